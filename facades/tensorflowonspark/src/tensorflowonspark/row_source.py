"""Where the rows of a data feed come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class RowSource(Protocol):
    """Rows one after the other, and a way back for their results."""

    @property
    def is_done(self) -> bool:
        """Whether all rows have been taken and no more will come."""

    def take(self, count: int, *, train_mode: bool) -> list[object]:
        """Returns the next rows, waiting for them; fewer at the end.

        Args:
            count: How many.
            train_mode: Whether they want no results; those that do end with their partition.
        """

    def answer(self, results: Iterable[object]) -> None:
        """Hands in the results for rows that were taken, in their order."""

    def stop(self) -> None:
        """Refuses the rows that are left."""
