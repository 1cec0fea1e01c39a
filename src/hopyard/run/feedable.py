"""The part of a cluster that feeds its nodes from Spark."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from hopyard.errors import NotFed
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.state import ALONE, HAS_LEARNT_ALONE
from hopyard.protocol.node_status import NodeStatus
from hopyard.view.view import View

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from hopyard.feed.account import EpochAccount
    from hopyard.feed.driver.epochs import Keep
    from hopyard.feed.driver.feeding import FeedController
    from hopyard.feed.driver.record import FeedRecord
    from hopyard.feed.signed_rows import RowSigner
    from hopyard.feed.task.partition_sender import PartitionReport

LOG = logging.getLogger(__name__)
FEED_SECONDS = 600.0


class Feedable(ABC):
    """A run whose nodes can be fed, if it was started so.

    Args:
        view: Shows the run.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._feeding: FeedController | None = None

    def train(
        self,
        data: object,
        epochs: int = 1,
        *,
        validation: object = None,
        shuffle_seed: int | None = None,
        feed_timeout: float = FEED_SECONDS,
        checkpoint: str | None = None,
        trigger: Mapping[str, Any] | None = None,
    ) -> Any:
        """Feeds data to the nodes that train, and returns once they have taken all of it; Ctrl-C ends the run.

        The nodes read it from ``ctx.feed()``. It may be called several times; the feed ends with `shutdown` or `wait`.
        A stream is fed while the driver goes on, until it is stopped, `shutdown` or `wait` stop it, or all nodes have
        had enough; its rows are delivered at least once, see `StreamFeed`.

        Args:
            data: A DataFrame, or an RDD of any objects; or a stream of them: a streaming DataFrame, or a DStream, whose
                context is the caller's to start and to stop.
            epochs: How often all rows are fed. Later epochs are read again from the disks of the nodes' hosts, if
                the rows fit there.
            validation: What to validate with, read from ``ctx.feed("validation")``, where every node has all of it: another
                DataFrame or RDD; the part of the rows to take for it, such as 0.1; or the name of a column of booleans.
                Nulls in it count as False, and neither side gets the column.
            shuffle_seed: Decides on another order of the rows in each epoch; by default they come as they are.
            feed_timeout: Seconds in which no node consumes a row although rows wait, after which the run is ended.
            checkpoint: For a streaming DataFrame: the folder where Spark keeps how far it was read. A run with the same
                one goes on from there.
            trigger: For a streaming DataFrame: when Spark takes the next rows, such as ``{"processingTime": "5 seconds"}``
                or ``{"availableNow": True}``; by default as soon as there are some.

        Returns:
            What became of the rows: an `EpochAccount` for each epoch. At once, a `StreamFeed` for a stream.

        Raises:
            NotFed: The run was not started with ``feed=True``.
            FeedStalled, FeedJobFailed, FeedMiscounted, BadArguments: See `hopyard.errors`.
            NodeFailed: A node failed, and the other errors of `wait`.
        """
        from hopyard.feed.driver.feeding import FeedOrder  # a run that is not fed needs none of it
        from hopyard.feed.driver.streams.feed import StreamFeed
        from hopyard.feed.driver.streams.queries import StreamOrder

        stream = StreamOrder(checkpoint=checkpoint, trigger=trigger)
        order = FeedOrder(
            epochs=epochs, seed=shuffle_seed, timeout=feed_timeout, stream=stream, validation=validation
        )
        feeding = self._fed("train()")
        with self._view.feeding(self, epochs):
            fed = feeding.train(data, order)
            if isinstance(fed, StreamFeed):
                self._view.accompany(self, partial(getattr, fed, "is_active"))
        return fed

    def inference(
        self,
        data: object,
        schema: str | StructType | None = None,
        *,
        keep: str | Sequence[str] = (),
        feed_timeout: float = FEED_SECONDS,
    ) -> Any:
        """Returns what the nodes find for each row, computed when it is used, in order within each partition.

        The nodes read the rows from ``ctx.feed()`` and return results with its ``batch_results``.

        Args:
            data: A DataFrame, or an RDD of any objects.
            schema: The columns of the results, for a DataFrame: such as ``"prediction float"``.
            keep: Columns of a DataFrame to stand before those of the results, each value in the row that it belongs to,
                such as ``["id"]``; ``df.columns`` for all. The function sees all columns anyway.
            feed_timeout: Seconds without any result for a partition, after which its task fails.

        Returns:
            A DataFrame or an RDD, as the data is; use it before the cluster is shut down.

        Raises:
            NotFed, BadArguments: The run cannot be fed, or the data; see `hopyard.errors`.
        """
        feeding = self._fed("inference()")
        with self._view.showing(self):
            results = feeding.inference(data, schema, keep=keep, feed_timeout=feed_timeout)
            self._view.accompany(self)
        return results

    def prepare_feeding(
        self,
        secret: str,
        signer: RowSigner,
        ranks: Sequence[int],
        record: FeedRecord,
    ) -> None:
        """Makes it possible to feed; for the start of the run. The arguments are those of `FeedController`, and its record."""
        from hopyard.feed.driver.feeding import FeedController  # a run that is not fed needs none of it

        self._feeding = FeedController(
            self,
            secret=secret,
            signer=signer,
            ranks=ranks,
            keep=partial(self._keep, record),
            note_ends=record.note_ends,
        )

    @contextmanager
    def feeding_again(self, epochs: int) -> Iterator[None]:
        """Takes note that nodes that were started again are fed what others had not read."""
        self._view.feed.begin(epochs)
        try:
            yield
        finally:
            self._view.feed.end()

    def end_feeding(self, timeout: float | None = None) -> None:
        """Ends the streams, and tells the nodes that nothing more will come.

        Raises:
            StillStreaming: A stream has not ended in time.
        """
        if self._feeding is not None:
            self._feeding.end(timeout)

    def tell_if_alone(self) -> None:
        """Says in the log if the nodes of a run that has ended well have learnt without each other."""
        alone = [node for node in self.nodes() if ALONE in node.notes]
        if len(alone) > 1:
            LOG.warning(HAS_LEARNT_ALONE, len(alone))

    def settle_feeding(self) -> None:
        """Returns when all that feeds a run that has ended has seen that; a warning names what does not."""
        if self._feeding is not None:
            self._feeding.settle()

    def close_accounts(self) -> None:
        """Puts on record which nodes have ended their feed early; for the end of the run."""
        if self._feeding is not None:
            self._feeding.close_accounts()

    @abstractmethod
    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether the run has ended, well or not; `wait` then returns or raises at once."""

    @abstractmethod
    def nodes(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing right now, in rank order."""

    @abstractmethod
    def standing(self) -> GroupStatus:
        """Returns the same, and which attempt these nodes belong to."""

    @property
    @abstractmethod
    def run_id(self) -> str:
        """The run, as `hopyard runs` lists it."""

    @abstractmethod
    def failure(self) -> BaseException | None:
        """Returns what the run ended of; None while it goes on, and if it ended well."""

    @abstractmethod
    def fail(self, error: BaseException) -> None:
        """Ends the run because of an error."""

    @abstractmethod
    def end_with(self, error: BaseException) -> None:
        """Ends the run because of an error that the driver program gets to see."""

    def _keep(self, keep: Keep, feed: int, account: EpochAccount, reports: Sequence[PartitionReport]) -> None:
        self._view.feed.account(account)
        keep(feed, account, reports)

    def _fed(self, wanted: str) -> FeedController:
        self.nodes()  # which is an error before the start
        if self._feeding is None:
            raise NotFed(wanted, "the run was started without feed=True; use Cluster(fn, feed=True)")
        return self._feeding
