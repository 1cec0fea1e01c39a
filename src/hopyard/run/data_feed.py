"""What ``ctx.feed()`` returns: the rows that Spark feeds to a node, epoch by epoch, and those to validate with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hopyard.errors import NoMoreEpochs
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.member import LockstepMember
from hopyard.feed.node.epoch_loop import EpochLoop, LoopGate
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.only_thread import is_only_thread
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.rows import Rows
from hopyard.run.datasets import Datasets, FedDatasets


class DataFeed(RowFeed, FedDatasets):
    """The rows to learn from; each is read once.

    A loop over a dataset that comes to its end has read an epoch, and the next loop reads the next one, so
    ``model.fit(dataset, epochs=n)`` and ``for epoch in range(n): for batch in dataset`` do what they say. A loop that was
    left gives its rows back: the next one begins the same epoch at its first row. `epochs` reads as many as are fed.
    `next_batch` and a loop over the feed itself go on through all epochs.
    """

    def __init__(
        self,
        inbox: Inbox,
        in_step: LockstepMember | None = None,
        *,
        is_alone: Callable[[], bool] = is_only_thread,
    ) -> None:
        super().__init__(inbox, in_step, is_alone=is_alone)
        self._gate = LoopGate()

    def begin_loop(self, rows: int) -> EpochLoop:
        """Begins a loop over the next epoch, or over the one under way from its first row on.

        The one under way is over if as many rows of it were read as of the one before, since Keras then does not look
        for its end.

        Raises:
            EpochLeft: An earlier loop was left so late that the epoch cannot be begun again.
        """
        with self._gate.lock:
            if self.has_enough:
                self.end_epoch(rows)
            self.begin_again(rows)
            return EpochLoop(self, self._gate, rows)

    def epochs(self) -> Iterator[Epoch]:
        """Yields each epoch that is fed, until the feed ends; what a loop leaves of one is passed over."""
        while self.await_epoch():
            epoch = Epoch(self, self._gate, self.epochs_read)
            yield epoch
            with self._gate.lock:
                if epoch.is_under_way:
                    self.skip_epoch()


class Epoch(FedDatasets):
    """One epoch of a feed, to be read once.

    Attributes:
        number: Its number among those that `Cluster.train` was asked for, from 0 on.
    """

    def __init__(self, feed: DataFeed, gate: LoopGate, place: int) -> None:
        self.number = feed.first_epoch + place
        self._feed = feed
        self._gate = gate
        self._place = place

    @property
    def is_under_way(self) -> bool:
        """Whether it has not been read to its end."""
        return self._feed.epochs_read == self._place

    def begin_loop(self, rows: int) -> EpochLoop:
        """Begins a loop over it.

        Raises:
            NoMoreEpochs: It has been read already.
            EpochLeft: An earlier loop was left so late that it cannot be begun again.
        """
        with self._gate.lock:
            if not self.is_under_way:
                raise NoMoreEpochs(self._feed.epochs_read)
            self._feed.begin_again(rows)
            return EpochLoop(self._feed, self._gate, rows)

    def note_nans(self, nulls: Mapping[str, int]) -> None:
        """Records nulls that were read as NaN, by column."""
        self._feed.note_nans(nulls)

    def note_error(self, error: Exception) -> None:
        """Records an error in reading, of which a framework makes one of its own."""
        self._feed.note_error(error)

    def note_joined(self, *, is_joined: bool) -> None:
        """Records whether something joins the nodes to train one model, as a framework begins to read."""
        self._feed.note_joined(is_joined=is_joined)

    def __repr__(self) -> str:
        return f"Epoch({self.number})"


class ValidationFeed(Datasets):
    """The rows to validate with: all of them, on every node, from the first on in each loop."""

    def __init__(self, stored: StoredRows) -> None:
        self._stored = stored

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields all rows in batches."""
        return self._stored.batches(rows)

    def note_nans(self, nulls: Mapping[str, int]) -> None:
        """Records nulls that were read as NaN, by column."""
        self._stored.nans.add(nulls)

    def note_error(self, error: Exception) -> None:
        """Records an error in reading, of which a framework makes one of its own."""
        self._stored.note_error(error)

    def __len__(self) -> int:
        return self._stored.rows

    def __repr__(self) -> str:
        return "ValidationFeed()"
