"""What a person sees of a run where it was started: a table of its nodes, and their output."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from hopyard.cluster.node_status import NodeStatus
from hopyard.cluster.plan import Plan
from hopyard.training.view_output import Batch, OutputQueue
from hopyard.training.view_snapshot import Snapshot
from hopyard.training.view_watch import Watch

if TYPE_CHECKING:
    from hopyard.training.view_screen import Screen

LOG = logging.getLogger(__name__)
FLUSH_SECONDS = 5.0


class View:
    """Shows a run where it was started, and never stands in its way: if it breaks, the log says so.

    The table goes to standard error and the nodes' output to standard output, so that either can be sent elsewhere.

    Args:
        plan: The run's nodes.
        progress: Whether the nodes are shown while somebody waits; None for terminals and notebooks only.
        stream_logs: Whether the nodes' output is shown.
        clock: The time in seconds.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        progress: bool | None,
        stream_logs: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prefixes = tuple(f"[{node.role.value} {node.rank}] " for node in plan.nodes)
        self._progress = progress
        self._stream_logs = stream_logs
        self._clock = clock
        self._began = clock()
        self._lock = threading.RLock()  # held by whoever writes
        self._screen: Screen | None = None
        self._output = OutputQueue(self._write, self._warn)
        self._is_over = False
        self._warned = False

    def lines(self, rank: int, lines: tuple[str, ...]) -> None:
        """Shows output of a node, each line after the node's name; returns at once, from any thread."""
        if self._stream_logs:
            self._output.add(rank, lines)

    @contextmanager
    def showing(self, status: Callable[[], tuple[NodeStatus, ...]], title: str) -> Iterator[None]:
        """Shows the nodes while open.

        Leaving it without an exception means that the run is over: how it ended stays to be seen, once.

        Args:
            status: Returns how the nodes are doing.
            title: The run.
        """
        try:
            with self._watch(status, title):
                try:
                    yield
                finally:
                    self._flush()
        finally:
            self._screen = None
        self._is_over = True

    def _watch(
        self, status: Callable[[], tuple[NodeStatus, ...]], title: str
    ) -> AbstractContextManager[object]:
        if self._is_over or self._progress is False:
            return nullcontext()
        from hopyard.training.view_screen import screen_for  # rich takes a while to import

        try:
            with self._lock:  # from now on lines go where the screen wants them
                self._screen = screen_for(progress=self._progress, lock=self._lock)
        except Exception as error:  # noqa: BLE001  whatever there is instead of a terminal, the run goes on
            self._warn(error)
        if self._screen is None:
            return nullcontext()
        return Watch(lambda: self._look(status, title), self._screen, self._warn)

    def _look(self, status: Callable[[], tuple[NodeStatus, ...]], title: str) -> Snapshot:
        return Snapshot.of(title, seconds=self._clock() - self._began, nodes=status())

    def _flush(self) -> None:
        if not self._output.flush(FLUSH_SECONDS):
            LOG.warning("output of nodes could not be written for %.0f s; it is in the log", FLUSH_SECONDS)

    def _write(self, batch: Batch) -> None:
        from hopyard.training.view_console import SharedConsole
        from hopyard.training.view_screen import is_terminal

        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        lines = [(rank, self._prefixes[rank], _encodable(line, encoding)) for rank, line in batch]
        with self._lock:
            if is_terminal(sys.stdout):
                shown = self._screen.console if self._screen is not None else None
                (shown or SharedConsole(sys.stdout, self._lock)).print_output(lines)
            else:
                sys.stdout.write("".join(f"{prefix}{line}\n" for _, prefix, line in lines))
                sys.stdout.flush()

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            LOG.warning(
                "the run goes on, but is not shown here any more: %s: %s", type(error).__name__, error
            )


def _encodable(text: str, encoding: str) -> str:
    return text.encode(encoding, "backslashreplace").decode(encoding)
