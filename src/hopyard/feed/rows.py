"""Rows as a training function sees them: a record batch, or a list of objects."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa

Rows: TypeAlias = "pa.RecordBatch | list[object]"
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


def split(rows: Rows, most: int) -> tuple[Rows, Rows | None]:
    """Returns the first rows, at most so many, and the others, if there are others."""
    if len(rows) <= most:
        return rows, None
    if isinstance(rows, list):
        return rows[:most], rows[most:]
    return rows.slice(0, most), rows.slice(most)


def padded(rows: Rows, more: Rows, length: int) -> Rows:
    """Returns rows with others after them, repeated until there are as many as wanted."""
    parts = [rows] if len(rows) else []
    missing = length - len(rows)
    while missing > 0:
        parts.append(split(more, missing)[0])
        missing -= len(parts[-1])
    return joined(parts)
