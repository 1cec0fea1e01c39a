"""Validation rows: a node keeps all of them on its disk, and reads them again whenever it is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from hopyard.errors import NotFed
from hopyard.feed.cache.epoch_store import EpochStore, default_limit
from hopyard.feed.node.level import Taken
from hopyard.feed.node.nan_tally import NanTally
from hopyard.feed.node.received_rows import PartitionKey, ReceivedRows
from hopyard.feed.node.rows import Rest, Rows, joined
from hopyard.feed.pieces import Piece, is_pickled, unpack
from hopyard.feed.ranges import Ranges

TOLD_SECONDS = 600.0


class StoredRows:
    """The rows of one feed, complete and in a fixed order; replaced when another such feed begins.

    It takes pieces as an `Inbox` does, from any thread. Readers wait until the driver has told that all are here,
    or that none come.

    Args:
        folder: Place of the files.
    """

    def __init__(self, folder: Path) -> None:
        self.noted: Exception | None = None
        self.nans = NanTally()
        self._was_read = False
        self._folder = folder
        self._changed = threading.Condition()
        self._received_rows = ReceivedRows()
        self._feed: int | None = None
        self._store: EpochStore | None = None
        self._is_told = False
        self._rows = 0

    def begin(self, feed: int, share: float) -> None:
        """Forgets what there was, and keeps what comes of a feed.

        Args:
            feed: Number of the feed.
            share: How much of what is left of the disk it may take.
        """
        self.close()
        with self._changed:
            limit = int(share * default_limit(self._folder))
            self._store = EpochStore(self._folder / f"validation-{feed}", limit_bytes=limit)
            self._received_rows = ReceivedRows()
            self._feed = feed
            self._is_told = False

    def seal(self) -> tuple[int, bool]:
        """Returns how many rows there are, and whether that is all of them; no more come."""
        with self._changed:
            assert self._store is not None
            self._rows = self._store.rows
            self._store.seal()
            return self._rows, self._store.is_whole

    def tell(self) -> None:
        """Records that the rows for validation, if there are any, are here."""
        with self._changed:
            self._is_told = True
            self._changed.notify_all()

    def is_of(self, feed: int) -> bool:
        """Tells whether the rows of a feed are kept here."""
        return self._feed == feed

    def open(self, key: PartitionKey, attempt: int) -> bool:
        """Records that an attempt begins; returns whether it may not be the first one to bring it."""
        with self._changed:
            return self._received_rows.open(key, attempt)

    def claim(self, key: PartitionKey, attempt: int) -> Ranges:
        """Gives a partition to an attempt alone; returns the rows of it that are here."""
        with self._changed:
            return Ranges(self._received_rows.claim(key, attempt))

    def put(self, piece: Piece, key: PartitionKey, attempt: int) -> Taken:
        """Keeps a piece of a partition."""
        with self._changed:
            if self._received_rows.is_barred(key, attempt):
                return Taken.BARRED
            assert self._store is not None
            self._store.append(piece.batch, piece.rows)
            self._received_rows.take(key, piece.start, piece.rows)
            return Taken.KEPT

    def counts(self, feed: int, epoch: int) -> dict[int, int]:
        """Returns how many rows came, by partition."""
        with self._changed:
            return dict(self._received_rows.counts(feed, epoch))

    def forget(self, feed: int, epoch: int) -> None:
        """Drops the account of a feed, which is over."""
        with self._changed:
            self._received_rows.forget(feed, epoch)

    def close(self) -> None:
        """Removes what was kept."""
        with self._changed:
            if self._store is not None:
                self._store.__exit__(None, None, None)
            self._store = None
            self._feed = None
            self._rows = 0

    @property
    def rows(self) -> int:
        """How many rows there are.

        Raises:
            NotFed: None were fed for validation.
        """
        self._await()
        return self._rows

    def batches(self, rows: int) -> Iterator[Rows]:
        """Yields all rows from the first on, so many at a time; the last batch may have fewer.

        Raises:
            NotFed: None were fed for validation.
        """
        store = self._await()
        parts: list[Rows] = []
        missing = rows
        for batch, _ in store.replay(epoch=0, seed=None):
            rest = Rest(unpack(batch) if is_pickled(batch.schema) else batch)
            while rest:
                parts.append(rest.take(missing))
                missing -= len(parts[-1])
                if not missing:
                    yield joined(parts)
                    parts, missing = [], rows
        if parts:
            yield joined(parts)

    def note_error(self, error: Exception) -> None:
        """Records an error in reading, of which a framework makes one of its own."""
        self.noted = error

    @property
    def is_unread(self) -> bool:
        """Whether there are rows, and nobody has asked for any."""
        return self._feed is not None and not self._was_read

    def _await(self) -> EpochStore:
        with self._changed:
            self._was_read = True
            if not self._changed.wait_for(lambda: self._is_told, TOLD_SECONDS):
                raise NotFed('ctx.feed("validation")', f"nothing was fed for {TOLD_SECONDS:g} s")
            if self._store is None:
                raise NotFed(
                    'ctx.feed("validation")',
                    "train() was called without validation; give it cluster.train(data, validation=...)",
                )
            return self._store
