"""What ``ctx.feed()`` returns: the rows that Spark feeds to a node, epoch by epoch, and those to validate with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from hopyard.errors import BadArguments, NoMoreEpochs
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.rows import Rows
from hopyard.run.datasets import Datasets

_LEFT_EARLY = "this loop reads only the rest of epoch {epoch}, since an earlier loop took rows of it. Read each epoch in one loop."
_TWO_LOOPS = (
    "two loops read this feed at the same time, so that each gets rows that the other lacks; use one loop, whose batches "
    "have all columns"
)
_SECOND_DATASET = (
    "another dataset or loop has rows of this epoch already, so that each would get rows that the other lacks; make one "
    "dataset, and use it for all epochs"
)


class DataFeed(RowFeed, Datasets):
    """The rows to learn from; each is read once.

    A loop over a dataset ends with the epoch, and the next loop reads the next one, so ``model.fit(dataset, epochs=n)``
    and ``for epoch in range(n): for batch in dataset`` do what they say. `epochs` reads as many as are fed. `next_batch`
    and a loop over the feed itself go on through all epochs.
    """

    _loop: object = None  # the one over a dataset that began last

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields the batches of the next epoch, or the rest of the one under way.

        Raises:
            NoMoreEpochs: All epochs have been read, and nothing more will come.
            BadArguments: Another loop has begun meanwhile.
        """
        loop = self._loop = object()
        is_resumed = self.is_within_epoch
        batch = self.epoch_batch(rows)
        if is_resumed and not len(batch):  # an earlier loop had read all rows, but did not see the end
            batch = self.epoch_batch(rows)
        elif is_resumed:
            warnings.warn(_LEFT_EARLY.format(epoch=self.epochs_read + 1), stacklevel=2)
        while len(batch):
            yield batch
            if self._loop is not loop:
                raise BadArguments("feed", _TWO_LOOPS)
            batch = self.epoch_batch(rows)

    def check_new_dataset(self, asked_by: str) -> None:
        """Refuses a dataset that would get the rows that another one lacks.

        Raises:
            BadArguments: Rows of the epoch have been read.
        """
        if self.is_within_epoch:
            raise BadArguments(asked_by, _SECOND_DATASET)

    def epochs(self) -> Iterator[Epoch]:
        """Yields each epoch that is fed, until the feed ends; what a loop leaves of one is passed over."""
        while self.await_epoch():
            epoch = Epoch(self, self.epochs_read)
            yield epoch
            if epoch.is_under_way:
                self.skip_epoch()


class Epoch(Datasets):
    """One epoch of a feed, to be read once.

    Attributes:
        number: Its number among those that `Cluster.train` was asked for, from 0 on.
    """

    def __init__(self, feed: DataFeed, place: int) -> None:
        self.number = feed.first_epoch + place
        self._feed = feed
        self._place = place

    @property
    def is_under_way(self) -> bool:
        """Whether it has not been read to its end."""
        return self._feed.epochs_read == self._place

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields its batches.

        Raises:
            NoMoreEpochs: It has been read already.
        """
        if not self.is_under_way:
            raise NoMoreEpochs(self._feed.epochs_read)
        while len(batch := self._feed.epoch_batch(rows)):
            yield batch

    def epoch_batch(self, rows: int) -> Rows:
        """Returns its next rows; none after the last."""
        return self._feed.epoch_batch(rows)

    def note_error(self, error: Exception) -> None:
        """Takes note of an error in reading, of which a framework makes one of its own."""
        self._feed.note_error(error)

    def note_joined(self, *, is_joined: bool) -> None:
        """Takes note of whether something joins the nodes to train one model, as a framework begins to read."""
        self._feed.note_joined(is_joined=is_joined)

    def check_new_dataset(self, asked_by: str) -> None:
        """Refuses a second dataset, which would get the rows that the first one lacks.

        Raises:
            BadArguments: Rows of the epoch have been read.
        """
        self._feed.check_new_dataset(asked_by)

    def __repr__(self) -> str:
        return f"Epoch({self.number})"


class ValidationFeed(Datasets):
    """The rows to validate with: all of them, on every node, from the first on in each loop."""

    def __init__(self, stored: StoredRows) -> None:
        self._stored = stored

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields all rows in batches."""
        return self._stored.batches(rows)

    def note_error(self, error: Exception) -> None:
        """Takes note of an error in reading, of which a framework makes one of its own."""
        self._stored.note_error(error)

    def __len__(self) -> int:
        return self._stored.rows

    def __repr__(self) -> str:
        return "ValidationFeed()"
