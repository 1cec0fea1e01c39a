"""The feed of a node in the shape of queues, for functions that read rows one by one."""

from __future__ import annotations

from hopyard.errors import NotOffered
from tensorflowonspark.row_source import RowSource


class InputQueue:
    """The rows that are fed to a node, with None after the last one."""

    def __init__(self, rows: RowSource) -> None:
        self._rows = rows

    def get(self, block: bool = True, timeout: float | None = None) -> object:
        """Returns the next row, waiting for it; None at the end.

        Raises:
            NotOffered: It is not to wait, or not for ever.
        """
        if not block or timeout is not None:
            raise NotOffered("get() without waiting", "a feed cannot tell whether a row is on its way")
        row = self._rows.take(1, train_mode=True)
        return row[0] if row else None

    def task_done(self) -> None:
        """Does nothing: a row counts as consumed when it is read."""


class OutputQueue:
    """Takes the results for the rows that were read."""

    def __init__(self, rows: RowSource) -> None:
        self._rows = rows

    def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:
        """Hands in the result of the next row."""
        self._rows.answer([item])
