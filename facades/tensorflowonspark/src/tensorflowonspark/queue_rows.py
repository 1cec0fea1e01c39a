"""The rows that a program puts into the queues of a `TFManager`."""

from __future__ import annotations

import queue
from collections.abc import Iterable
from typing import Any

from tensorflowonspark.marker import EndPartition


class QueueRows:
    """Rows of a queue, up to the first None in it; the results go to another queue.

    Args:
        mgr: A manager that has both.
        qname_in: Name of the queue with the rows.
        qname_out: Name of that for the results.

    Raises:
        RemoteError: There is no such queue.
    """

    def __init__(self, mgr: Any, qname_in: str, qname_out: str) -> None:
        self._rows = mgr.get_queue(qname_in)
        self._results = mgr.get_queue(qname_out)
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """Whether the end was seen."""
        return self._is_done

    def take(self, count: int, *, train_mode: bool) -> list[object]:
        """Returns the next rows; fewer at the end, and at that of a partition unless they are trained on."""
        rows: list[object] = []
        while len(rows) < count and not self._is_done:
            item = self._rows.get()
            self._rows.task_done()
            if item is None:
                self._is_done = True
            elif not isinstance(item, EndPartition):
                rows.append(item)
            elif rows and not train_mode:
                break
        return rows

    def answer(self, results: Iterable[object]) -> None:
        """Puts results into their queue, one by one."""
        for result in results:
            self._results.put(result)

    def stop(self) -> None:
        """Takes out what is there, so that whoever waits for its end need not wait longer."""
        self._is_done = True
        try:
            while True:
                self._rows.get(block=False)
                self._rows.task_done()
        except queue.Empty:
            return
