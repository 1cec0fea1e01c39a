"""All partitions whose rows want results of a node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from hopyard.feed.node.inference_request import InferenceRequest


class InferenceRequests:
    """The inquiries at an inbox, which calls this with its lock held."""

    def __init__(self) -> None:
        self._open: deque[InferenceRequest] = deque()
        self._turned_away: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[InferenceRequest]:
        return iter(tuple(self._open))

    def add(self, inquiry: InferenceRequest) -> None:
        """Takes a new one."""
        self._open.append(inquiry)

    def remove(self, inquiry: InferenceRequest) -> None:
        """Forgets one, if it is known."""
        if inquiry in self._open:
            self._open.remove(inquiry)

    def turn_away(self) -> None:
        """Takes note that those that are open will not be answered."""
        self._turned_away |= self._stages()

    def ready(self, rows: int, *, is_full: bool) -> InferenceRequest | None:
        """Returns one that can fill a batch, or cannot get more; they take turns.

        Args:
            rows: The size of the batch.
            is_full: Whether there is no room for more rows.
        """
        for _ in range(len(self._open)):
            inquiry = self._open[0]
            self._open.rotate(-1)
            if inquiry.rows >= rows or (inquiry.rows and (inquiry.is_complete or is_full)):
                return inquiry
        return None

    @property
    def handed_out(self) -> int:
        """How many rows have been taken, and have no results yet."""
        return sum(inquiry.handed_out for inquiry in self._open)

    @property
    def missing(self) -> int:
        """The same; 0 as long as a partition has rows to hand out, or more to come."""
        return self.handed_out if all(inquiry.is_read for inquiry in self._open) else 0

    @property
    def asking(self) -> tuple[int, ...]:
        """The Spark stages that wait for results, or did until they were turned away."""
        return tuple(sorted(self._stages() | self._turned_away))

    def _stages(self) -> set[int]:
        return {inquiry.stage for inquiry in self._open if inquiry.stage is not None}
