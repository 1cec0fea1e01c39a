"""Rows as a training function sees them: a record batch, or a list of objects."""

from __future__ import annotations

import pyarrow as pa

from hopyard.frameworks.source import Rows as Rows

NO_ROWS = pa.record_batch([], names=[])


def are_alike(one: Rows, other: Rows) -> bool:
    """Tells whether rows can be put together."""
    if isinstance(one, list) or isinstance(other, list):
        return isinstance(one, list) and isinstance(other, list)
    return bool(one.schema.equals(other.schema))


def joined(parts: list[Rows]) -> Rows:
    """Returns rows that are alike in one piece; record batches are copied only if there are several."""
    if not parts:
        return NO_ROWS
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    return pa.concat_batches(parts)


class Rest:
    """Rows of which some have been taken; taking some costs nothing for the others."""

    __slots__ = ("_rows", "_start")

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._start = 0

    def __len__(self) -> int:
        return len(self._rows) - self._start

    def is_like(self, other: Rows) -> bool:
        """Tells whether the rows can be put together with others."""
        return are_alike(self._rows, other)

    def take(self, most: int) -> Rows:
        """Returns the next rows, at most so many."""
        start, self._start = self._start, min(len(self._rows), self._start + most)
        if start == 0 and self._start == len(self._rows):
            return self._rows
        if isinstance(self._rows, list):
            return self._rows[start : self._start]
        return self._rows.slice(start, self._start - start)


def padded(rows: Rows, more: Rows, length: int) -> Rows:
    """Returns rows with others after them, repeated until there are as many as wanted."""
    parts = [rows] if len(rows) else []
    missing = length - len(rows)
    while missing > 0:
        parts.append(Rest(more).take(missing))
        missing -= len(parts[-1])
    return joined(parts)
