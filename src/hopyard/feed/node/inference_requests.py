"""All partitions whose rows want results of a node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from hopyard.feed.node.inference_request import InferenceRequest

MOST_REFUSED = 4


class InferenceRequests:
    """The requests at an inbox, which calls this with its lock held."""

    def __init__(self) -> None:
        self._open: deque[InferenceRequest] = deque()
        self._turned_away: set[int] = set()
        self._refused: deque[tuple[int, str]] = deque(maxlen=MOST_REFUSED)

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[InferenceRequest]:
        return iter(tuple(self._open))

    def add(self, request: InferenceRequest) -> None:
        """Takes a new one."""
        self._open.append(request)

    def remove(self, request: InferenceRequest) -> None:
        """Forgets one, if it is known."""
        if request in self._open:
            self._open.remove(request)

    def turn_away(self) -> None:
        """Records that those that are open will not be answered."""
        self._turned_away |= self._stages()

    def refuse(self, stage: int, reason: str) -> None:
        """Records that the results do not fit what a stage wants; the first reason counts."""
        if stage not in dict(self._refused):
            self._refused.append((stage, reason))

    def ready(self, rows: int, *, is_full: bool) -> InferenceRequest | None:
        """Returns one that can fill a batch, or cannot get more; they take turns.

        Args:
            rows: The size of the batch.
            is_full: Whether there is no room for more rows.
        """
        for _ in range(len(self._open)):
            request = self._open[0]
            self._open.rotate(-1)
            if request.rows >= rows or (request.rows and (request.is_complete or is_full)):
                return request
        return None

    @property
    def handed_out(self) -> int:
        """How many rows have been taken, and have no results yet."""
        return sum(request.handed_out for request in self._open)

    @property
    def missing(self) -> int:
        """The same; 0 as long as a partition has rows to hand out, or more to come."""
        return self.handed_out if all(request.is_read for request in self._open) else 0

    @property
    def asking(self) -> tuple[int, ...]:
        """The Spark stages that wait for results, or did until they were turned away."""
        return tuple(sorted(self._stages() | self._turned_away))

    @property
    def refused(self) -> tuple[tuple[int, str], ...]:
        """The last stages whose results did not fit, and why."""
        return tuple(self._refused)

    def _stages(self) -> set[int]:
        return {request.stage for request in self._open if request.stage is not None}
