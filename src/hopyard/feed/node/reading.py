"""How far a feed has been read, and the first rows of the epoch under way."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa

from hopyard.errors import EpochLeft
from hopyard.feed.node.rows import Rows

KEPT_BYTES = 32 << 20


class ReadingProgress:
    """How far a feed has been read: whether at all, epochs, and whether one is under way."""

    def __init__(self) -> None:
        self.was_read = False
        self.is_joined: bool | None = None
        self.epochs = 0
        self.rows: int | None = None
        self.given = 0
        self.is_under_way = False
        self._given_before = 0

    def go_on(self, rows: int) -> None:
        """Counts a batch of so many rows."""
        self.is_under_way = True
        self.given += rows

    def begin_again(self) -> None:
        """Goes back to the first row of the epoch under way."""
        self.given = 0

    def end(self, rows: int) -> None:
        """Ends an epoch that had so many rows."""
        self.rows = rows
        self._end()

    def is_over(self) -> bool:
        """Tells, at the end of the feed, whether epochs had been read before and none was under way."""
        if self.is_under_way:
            self._end()
            return False
        return self.epochs > 0

    @property
    def has_enough(self) -> bool:
        """Whether as many rows of the epoch under way were read as of the one before: Keras then does not look for its end."""
        return 0 < self._given_before <= self.given

    def _end(self) -> None:
        self.epochs += 1
        self.is_under_way = False
        self._given_before, self.given = self.given, 0


class EpochStart:
    """The rows that were read of the epoch under way, for a loop that begins it again; only as long as they are few.

    Args:
        limit_bytes: How much is kept; the first batch is, whatever its size.
    """

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._limit = limit_bytes
        self._batches: list[Rows] = []
        self._bytes = 0
        self._batch_size = 0
        self._row_bytes = 0
        self._is_kept = True

    def keep(self, batch: Rows, batch_size: int) -> None:
        """Takes the next batch that was read."""
        size = self._size_of_objects(batch) if isinstance(batch, list) else batch.nbytes
        self._batch_size = batch_size
        self._bytes += size
        self._is_kept = self._is_kept and (not self._batches or self._bytes <= self._limit)
        if not self._is_kept:
            self._batches.clear()
        elif isinstance(batch, list):
            self._batches.append(batch)
        else:  # a copy, since a batch holds shared memory, in which the next rows are to come
            self._batches.append(pa.concat_batches([batch, batch.slice(0, 0)]))

    def _size_of_objects(self, batch: list[Any]) -> int:
        """Returns about how much a batch of an RDD takes; of each epoch, one row is measured."""
        if not self._row_bytes and batch:
            self._row_bytes = len(pickle.dumps(batch[0]))
        return len(batch) * self._row_bytes

    def take_back(self, epoch: int, read: int) -> tuple[list[Rows], int]:
        """Returns all batches that were read, and how many rows each was to have; forgets them.

        Args:
            epoch: Number of the epoch, for errors.
            read: How many rows of it were read, for errors.

        Raises:
            EpochLeft: They were too many to be kept.
        """
        if not self._is_kept:
            raise EpochLeft(epoch, read, self._limit >> 20)
        batches, batch_size = self._batches, self._batch_size
        self.forget()
        return batches, batch_size

    def forget(self) -> None:
        """Drops the rows of an epoch that is over."""
        self._batches = []
        self._bytes = self._batch_size = self._row_bytes = 0
        self._is_kept = True
