"""The nodes' output on its way to where the run was started."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

MOST_WAITING = 10_000

Batch: TypeAlias = Sequence[tuple[int, str]]


class OutputQueue:
    """Takes lines at once and has them written by a thread, which is there while there is something to write.

    Whoever brings lines is answering a heartbeat, and must not wait for a terminal that somebody has stopped with
    Ctrl-S: the nodes would be taken for lost.
    """

    def __init__(self, write: Callable[[Batch], None], on_failure: Callable[[Exception], None]) -> None:
        """Prepares the queue.

        Args:
            write: Writes lines, each with the rank of its node.
            on_failure: Hears why lines cannot be written; later lines are dropped.
        """
        self._write = write
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, str]] = []
        self._skipped: dict[int, int] = {}
        self._failed = False
        self._idle = threading.Event()
        self._idle.set()

    def add(self, rank: int, lines: Sequence[str]) -> None:
        """Takes lines of a node; those that find no room are counted, and the number is written in their place."""
        with self._lock:
            if self._failed or not lines:
                return
            room = MOST_WAITING - len(self._waiting)
            self._waiting.extend((rank, line) for line in lines[:room])
            if len(lines) > room:
                self._skipped[rank] = self._skipped.get(rank, 0) + len(lines) - room
            if not self._idle.is_set():
                return
            self._idle.clear()
        threading.Thread(target=self._write_all, name="hopyard-output", daemon=True).start()

    def flush(self, timeout: float) -> bool:
        """Returns when all is written, or after so many seconds; tells whether it is."""
        return self._idle.wait(timeout)

    def _write_all(self) -> None:
        try:
            while batch := self._take():
                self._write(batch)
        except Exception as error:  # noqa: BLE001  the end of a thread; the run goes on without its output here
            self._on_failure(error)
            self._fail()

    def _take(self) -> Batch:
        with self._lock:
            batch, self._waiting = self._waiting, []
            for rank, skipped in self._skipped.items():
                batch.append((rank, f"[hopyard] {skipped} more lines are in the log only"))
            self._skipped = {}
            if not batch:
                self._idle.set()
            return batch

    def _fail(self) -> None:
        with self._lock:
            self._failed = True
            self._waiting = []
            self._idle.set()
