"""Ranges of row numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class Ranges:
    """A set of row numbers as half-open ranges, which do not touch each other."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []
        for start, stop in sorted(ranges):
            self.add(start, stop)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._starts, self._stops, strict=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranges) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Ranges({list(self)})"

    @property
    def rows(self) -> int:
        """How many numbers there are."""
        return sum(self._stops) - sum(self._starts)

    def add(self, start: int, stop: int) -> None:
        """Adds the numbers from one up to, and without, another."""
        if start >= stop:
            return
        first = bisect_right(self._stops, start - 1)  # the first range that ends at `start` or later
        last = bisect_right(self._starts, stop)  # behind the last one that begins at `stop` or before
        if first < last:
            start = min(start, self._starts[first])
            stop = max(stop, self._stops[last - 1])
        self._starts[first:last] = [start]
        self._stops[first:last] = [stop]

    def missing(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yields what of a range is not in the set, in order."""
        place = max(0, bisect_right(self._starts, start) - 1)
        while start < stop:
            if place == len(self._starts) or self._starts[place] >= stop:
                yield start, stop
                return
            if start < self._starts[place]:
                yield start, self._starts[place]
            start = max(start, self._stops[place])
            place += 1
