"""What a training function reads: batches of rows, drawn from the node's inbox."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from hopyard.errors import BadArguments
from hopyard.feed.inbox import Inbox
from hopyard.feed.pieces import is_pickled, unpack

if TYPE_CHECKING:
    import numpy as np

Rows: TypeAlias = "pa.RecordBatch | list[object]"
NOTHING = pa.record_batch([], names=[])


class RowFeed:
    """The rows that Spark feeds to this node.

    Rows of a DataFrame come as `pyarrow.RecordBatch`, those of an RDD as a list of the objects in it.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._ahead: deque[Rows] = deque(maxlen=1)

    def next_batch(self, rows: int) -> Rows:
        """Returns the next rows, fewer than asked for only at the end of the feed, and none after it.

        A batch goes across the borders of partitions and epochs, but not from the rows of a DataFrame to those of an
        RDD, or to those of a DataFrame with other columns.
        """
        if rows < 1:
            raise BadArguments("next_batch", f"rows={rows} is less than 1")
        parts: list[Rows] = []
        missing = rows
        while missing and (part := self._draw()) is not None:
            if parts and not _are_alike(parts[-1], part):
                self._ahead.append(part)
                break
            if len(part) > missing:
                self._ahead.append(part[missing:] if isinstance(part, list) else part.slice(missing))
                part = part[:missing] if isinstance(part, list) else part.slice(0, missing)
            parts.append(part)
            missing -= len(part)
        return _joined(parts)

    def __iter__(self) -> Iterator[Rows]:
        """Yields all rows in batches as they come, without copying any."""
        while (part := self._draw()) is not None:
            yield part

    def as_numpy(
        self,
        rows: int,
        *,
        columns: Sequence[str] | None = None,
        fill_nulls: Mapping[str, object] | None = None,
    ) -> Iterator[dict[str, np.ndarray]]:
        """Yields batches as arrays by column, the row as first axis; see `hopyard.feed.columns.to_numpy`.

        Raises:
            BadArguments: The rows are those of an RDD, which has no columns.
            NullValues: A column that has no form for it holds a null.
        """
        from hopyard.feed.columns import to_numpy  # the one place that needs numpy

        while len(batch := self.next_batch(rows)):
            if isinstance(batch, list):
                raise BadArguments(
                    "as_numpy", "the rows of an RDD have no columns; feed a DataFrame, or use next_batch()"
                )
            yield to_numpy(batch, columns=columns, fill_nulls=fill_nulls)

    def should_stop(self) -> bool:
        """Whether all rows have been read and no more will come."""
        return not self._ahead and self._inbox.is_done

    def terminate(self) -> None:
        """Ends the feed of this node: what still comes is refused, so that Spark need not compute it."""
        self._ahead.clear()
        self._inbox.stop()

    def _draw(self) -> Rows | None:
        if self._ahead:
            return self._ahead.pop()
        piece = self._inbox.draw()
        if piece is None:
            return None
        return unpack(piece.batch) if is_pickled(piece.batch.schema) else piece.batch


def _are_alike(one: Rows, other: Rows) -> bool:
    if isinstance(one, list) or isinstance(other, list):
        return isinstance(one, list) and isinstance(other, list)
    return bool(one.schema.equals(other.schema))


def _joined(parts: list[Rows]) -> Rows:
    if not parts:
        return NOTHING
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    return pa.concat_batches(parts)
