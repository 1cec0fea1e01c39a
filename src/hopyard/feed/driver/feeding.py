"""Feeds the nodes of a run from the driver: data, epoch by epoch, and streams; and gets their results."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from hopyard.errors import BadArguments, HopyardError, NodesReplaced, NotFed
from hopyard.feed.account import EpochAccount
from hopyard.feed.driver.at_the_end import warnings_of
from hopyard.feed.driver.end import EndOfFeed
from hopyard.feed.driver.epochs import EpochFeeder
from hopyard.feed.driver.inference_jobs import InferenceJobs
from hopyard.feed.driver.record import FeedRecord
from hopyard.feed.driver.sources import Source, check_feedable, source_of
from hopyard.feed.driver.streams.feed import StreamFeed, Streams, comes_by_and_by
from hopyard.feed.driver.streams.queries import StreamOrder
from hopyard.feed.driver.targets import FedGroup, FedNodes, FedRun
from hopyard.feed.driver.train_feeds import TrainFeeds
from hopyard.feed.driver.validation import split
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.task.inference import InferencePlan
from hopyard.feed.task.partition_sender import PartitionReport

LOG = logging.getLogger(__name__)
LEAST_GATHER_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedOrder:
    """How data is to be fed.

    Attributes:
        epochs: How often.
        seed: Decides on the order of the rows in each epoch; None: as they come.
        timeout: Seconds in which no node consumes a row although rows wait.
        stream: How a stream is read.
        validation: What to validate with: None, other data, a part of it, or the name of a column that tells.
    """

    epochs: int = 1
    seed: int | None = None
    timeout: float = 600.0
    stream: StreamOrder = field(default_factory=StreamOrder)
    validation: object = None

    def __post_init__(self) -> None:
        if type(self.epochs) is not int or self.epochs < 1:
            raise BadArguments(
                "train", f"epochs={self.epochs!r} is not valid; give a whole number of at least 1"
            )
        if self.seed is not None and type(self.seed) is not int:
            raise BadArguments("train", f"shuffle_seed={self.seed!r} is not valid; give a whole number")
        check_seconds("train", self.timeout)

    @property
    def gather_seconds(self) -> float:
        """How long nodes that run may take until they ask for rows."""
        return max(self.timeout, LEAST_GATHER_SECONDS)


def check_seconds(asked_by: str, seconds: object) -> None:
    """Checks a ``feed_timeout``.

    Raises:
        BadArguments: It is not a number above 0.
    """
    if type(seconds) not in (int, float) or not seconds > 0:  # type: ignore[operator]
        raise BadArguments(
            asked_by, f"feed_timeout={seconds!r} is not valid; give a number of seconds above 0"
        )


def is_stream(data: object) -> bool:
    """Tells whether the rows of what is to be fed come by and by.

    Raises:
        BadArguments: It is nothing that can be fed.
    """
    check_feedable("train", data)
    return comes_by_and_by(data)


class Meter(Protocol):
    """Shows what the nodes are fed."""

    def begin(self, epochs: int) -> None:
        """Records that data is fed from now on, so often."""

    def account(self, account: EpochAccount) -> None:
        """Records an epoch that was fed."""

    def end(self) -> None:
        """Records that the data is fed."""


class FeedController:
    """Feeds one run, from its first call of train() to its end.

    Args:
        run: The run.
        end_with: Ends the run because of an error that the driver program gets to see.
        secret: What the tokens of its nodes are made of.
        signer: Signs rows that are pickled.
        ranks: The nodes that are fed.
        record: Keeps the account of each epoch.
        meter: Shows what is fed.
    """

    def __init__(
        self,
        run: FedRun,
        *,
        end_with: Callable[[BaseException], None],
        secret: str,
        signer: RowSigner,
        ranks: Sequence[int],
        record: FeedRecord,
        meter: Meter,
    ) -> None:
        self._end_with = end_with
        self._signer = signer
        self._nodes = FedNodes(run, secret=secret, ranks=ranks)
        self._record = record
        self._meter = meter
        self._feeder = EpochFeeder(run, self._nodes, self._keep, signer)
        self._feeds = 0
        self._was_asked = False
        self._streams = Streams(run, self._feed_batch, self._nodes.is_wanted)
        self._trained = TrainFeeds(
            run,
            self._nodes,
            self._feeder,
            next_feed=self._next_feed,
            note_ends=record.note_ends,
            feeding_again=self._feeding_again,
        )
        self._end_of_feed = EndOfFeed(
            run,
            self._nodes,
            has_fed=self._trained.has_fed,
            was_used=lambda: bool(self._feeds) or self._was_asked,
        )
        self._asking = InferenceJobs(run, self._nodes)

    def train(self, data: object, order: FeedOrder) -> tuple[EpochAccount, ...]:
        """Feeds all rows once for each epoch; returns when the nodes have taken them. A failure ends the run.

        Raises:
            BadArguments: The data is nothing that can be fed, or has no rows, or the number of epochs is none.
            FeedStalled: Rows wait, and no node has consumed any for too long.
            FeedJobFailed: Spark could not compute the rows.
            SchedulerHangs: Spark's scheduler hangs, so that the rows would never come.
            FeedMiscounted: Rows were lost or came twice.
            HopyardError: Whatever ended the run meanwhile.
        """
        check_feedable("train", data)
        order.stream.check(data)
        rows, held_out = split(data, order.validation)
        source = source_of("train", rows)
        held = None if held_out is None else source_of("train", held_out)
        try:
            return self._trained.train(source, held, order)
        except HopyardError as error:
            failure = error
        except BaseException as error:
            self._end_with(error)
            raise
        self._end_with(failure)
        raise failure.with_traceback(None)  # it tells its story; the way through our threads is noise

    def train_stream(self, stream: object, order: FeedOrder) -> StreamFeed:
        """Begins to feed a stream, which goes on when this returns.

        Raises:
            BadArguments: It is no stream, is to be fed several times or with rows to validate, or Spark cannot read it so.
        """
        check_feedable("train_stream", stream)
        if not comes_by_and_by(stream):
            raise BadArguments("train_stream", "the data does not come by and by; give it to train()")
        order.stream.check(stream)
        if order.validation is not None:
            reason = "a stream has no epochs to validate after; leave out validation"
            raise BadArguments("train_stream", reason)
        return self._streams.start(stream, order, feed=self._next_feed())

    def inference(self, data: object, schema: Any, *, keep: object, feed_timeout: float) -> Any:
        """Returns the results for all rows, which are computed when they are used.

        Raises:
            BadArguments: The data is nothing that can be fed, a schema is missing, or a column to keep.
            NotFed: No node is there to find them.
            HopyardError: Whatever ended the run meanwhile.
        """
        check_seconds("inference", feed_timeout)
        source = source_of("inference", data)
        team = self._nodes.gather(max(feed_timeout, LEAST_GATHER_SECONDS))
        if not team.nodes:
            raise NotFed("inference()", "the run has ended; start another cluster")
        self._was_asked = True
        plan = InferencePlan(nodes=team.nodes, seconds=feed_timeout, signer=self._signer)
        results = source.ask(plan, schema, keep)
        self._asking.watch(source.context)
        return results

    def _feed_batch(self, source: Source, order: FeedOrder, *, feed: int, batch: int) -> EpochAccount:
        """Feeds one batch of a stream, and returns when the nodes have taken it; it counts as an epoch.

        Raises:
            HopyardError: As `train`.
        """
        while True:
            try:
                return self._feeder.feed(
                    self._gather(order),
                    source,
                    order,
                    feed=feed,
                    epoch=batch,
                    number=batch,
                    keeps=False,
                    left=0,
                )
            except NodesReplaced as replaced:
                LOG.warning("micro-batch %d is fed again from its beginning: %s", batch, replaced)

    def cause(self, error: BaseException) -> HopyardError | None:
        """Returns what an error of Spark came of, in which results were wanted; None if that is not known."""
        return self._asking.cause(error)

    def close_accounts(self) -> None:
        """Records which nodes have ended their feed early; to be called before the run is on record as ended."""
        self._trained.close_accounts()

    def warn(self) -> None:
        """Says in the log what may be wrong with the feed of a run that has ended well."""
        for sentence in warnings_of(self._nodes.look().nodes):
            LOG.warning("%s", sentence)

    def settle(self) -> None:
        """Returns when the streams of a run that has ended, and all else that feeds it, have seen that."""
        self._streams.settle()
        self._trained.settle()

    def end(self, timeout: float | None = None) -> None:
        """Ends the streams, and tells the nodes that nothing more will come, once they have what they are to get.

        Nodes that are late are not waited for.

        Raises:
            StillStreaming: A stream has not ended in time.
            FeedJobFailed: A node cannot be told.
        """
        began = time.monotonic()
        self._streams.stop(timeout)
        self._end_of_feed.say(None if timeout is None else timeout - (time.monotonic() - began))

    def _keep(self, feed: int, account: EpochAccount, reports: Sequence[PartitionReport]) -> None:
        self._meter.account(account)
        self._record(feed, account, reports)

    @contextmanager
    def _feeding_again(self, epochs: int) -> Iterator[None]:
        """Shows that nodes that were started again are fed what others had not read."""
        self._meter.begin(epochs)
        try:
            yield
        finally:
            self._meter.end()

    def _next_feed(self) -> int:
        self._feeds += 1
        return self._feeds - 1

    def _gather(self, order: FeedOrder) -> FedGroup:
        return self._nodes.gather(order.gather_seconds)
