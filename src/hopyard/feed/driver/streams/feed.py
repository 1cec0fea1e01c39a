"""Streams that feed the nodes of a run."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from hopyard.errors import BadArguments, StillStreaming, StreamFailed
from hopyard.feed.account import EpochAccount
from hopyard.feed.driver.sources import Source
from hopyard.feed.driver.streams.dstreams import DStreamRows
from hopyard.feed.driver.streams.gate import BatchGate
from hopyard.feed.driver.streams.queries import QueryStream, StreamOrder, is_streaming_frame

if TYPE_CHECKING:
    from hopyard.feed.driver.feeding import FeedOrder
    from hopyard.feed.driver.targets import FedRun

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.1
STOP_SECONDS = 600.0
SETTLE_SECONDS = 30.0


class Stream(Protocol):
    """Where the batches come from."""

    def has_ended(self, within_seconds: float) -> bool:
        """Tells whether nothing more will come.

        Raises:
            StreamFailed: It has failed.
        """

    def end(self) -> None:
        """Ends the stream if that can be done without loss; called again and again once the gate is quiet."""


class StreamFeed:
    """A stream that feeds the nodes of a run; `Cluster.train_stream` returns it, and the driver program goes on.

    Each row is delivered at least once, that is, put into the memory of a node. A micro-batch of a streaming DataFrame
    that was under way when the driver died, a node failed or all nodes had enough is fed again, as a whole, by the
    next run with the same checkpoint; within a run, none that was fed completely is fed again. If the nodes are
    started again (``max_restarts``), the new ones get the micro-batch under way from its beginning, and none of
    the earlier ones. The rows of a DStream are fed as they come, and not again.

    Args:
        stream: Where the batches come from.
        gate: What they go through.
        run: The run that is fed.
        is_wanted: Whether a node is left that takes rows.
    """

    def __init__(
        self, stream: Stream, gate: BatchGate, *, run: FedRun, is_wanted: Callable[[], bool]
    ) -> None:
        self._stream = stream
        self._gate = gate
        self._run = run
        self._is_wanted = is_wanted
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="hopyard-stream", daemon=True)

    @property
    def batches(self) -> int:
        """How many micro-batches, or RDDs, the nodes have taken."""
        return self._gate.batches

    @property
    def rows(self) -> int:
        """How many rows these had."""
        return self._gate.rows

    @property
    def is_active(self) -> bool:
        """Whether the stream goes on."""
        return not self._ended.is_set()

    def stop(self, timeout: float | None = STOP_SECONDS) -> None:
        """Ends the stream after the micro-batch under way, and returns when that is done; the nodes go on.

        Raises:
            StillStreaming: The nodes have not taken the micro-batch in time. The stream ends once they have.
        """
        self._gate.close()
        if not self._ended.wait(timeout):
            assert timeout is not None
            raise StillStreaming(self._run.run_id, timeout, self.batches)

    def wait(self, timeout: float | None = None) -> None:
        """Returns when the stream has ended: it was stopped, all nodes have had enough, or nothing more comes.

        Raises:
            StillStreaming: It goes on after `timeout` seconds.
            NodeFailed: A node failed, and the other errors of `Cluster.wait`.
            StreamFailed: The stream failed, which ended the run.
            FeedStalled, FeedJobFailed, FeedMiscounted: Feeding failed, which ended the run.
        """
        if not self._ended.wait(timeout):
            assert timeout is not None
            raise StillStreaming(self._run.run_id, timeout, self.batches)
        if self._error is not None:
            raise self._error

    def has_ended(self, within_seconds: float) -> bool:
        """Tells whether the stream has ended within some seconds."""
        return self._ended.wait(within_seconds)

    def start(self) -> None:
        """Begins to watch over the stream."""
        self._thread.start()

    def _watch(self) -> None:
        try:
            error = self._follow()
        except BaseException as unexpected:  # noqa: BLE001  the edge of a thread: handed to whoever waits
            error = unexpected
        if error is not None:
            self._run.fail(error)
        self._error = self._run.failure() or error
        self._ended.set()

    def _follow(self) -> BaseException | None:
        """Returns what the stream ended of, when it has; ends it when nobody wants more of it."""
        try:
            while not self._stream.has_ended(POLL_SECONDS):
                if self._run.has_ended() or not self._is_wanted():
                    self._gate.close()
                if self._gate.is_quiet:
                    self._stream.end()
        except StreamFailed as failed:
            if not self._gate.is_closed:
                self._gate.close()
                return failed
            LOG.info("a stream that was closed ended so: %s", failed)
        return self._gate.error


class FeedBatch(Protocol):
    """Feeds one batch of a stream, and returns when the nodes have taken it."""

    def __call__(self, source: Source, order: FeedOrder, *, feed: int, batch: int) -> EpochAccount:
        """Returns what became of it.

        Args:
            source: Its rows.
            order: How to feed them.
            feed: Number of the stream among the feeds of the run.
            batch: Number of the batch.
        """


class Streams:
    """All streams of a run.

    Args:
        run: The run.
        feed_batch: Feeds their batches.
        is_wanted: Whether a node is left that takes rows, or will.
    """

    def __init__(self, run: FedRun, feed_batch: FeedBatch, is_wanted: Callable[[], bool]) -> None:
        self._run = run
        self._feed_batch = feed_batch
        self._is_wanted = is_wanted
        self._feeds: list[StreamFeed] = []
        self._last: dict[str, int] = {}

    def start(self, data: Any, order: FeedOrder, *, feed: int) -> StreamFeed:
        """Begins to feed a stream, whose number among the feeds of the run is given.

        Raises:
            BadArguments: It is to be fed several times, or Spark cannot read it so.
        """
        if order.epochs != 1:
            raise BadArguments("train", f"a stream is fed once; epochs={order.epochs} is for other data")
        gate = BatchGate(lambda source, number: self._feed_batch(source, order, feed=feed, batch=number))
        stream = self._open(data, order.stream, gate)
        handle = StreamFeed(stream, gate, run=self._run, is_wanted=self._is_wanted)
        self._feeds.append(handle)
        handle.start()
        return handle

    def stop(self, timeout: float | None) -> None:
        """Ends all streams, each after the batch under way.

        Raises:
            StillStreaming: One has not ended in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for feed in self._feeds:
            feed.stop(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def settle(self) -> None:
        """Gives the streams of a run that has ended the time to see that."""
        deadline = time.monotonic() + SETTLE_SECONDS
        for feed in self._feeds:
            if not feed.has_ended(max(0.0, deadline - time.monotonic())):
                LOG.warning("a stream into run %s has not ended with it", self._run.run_id)

    def _open(self, data: Any, order: StreamOrder, gate: BatchGate) -> Stream:
        if not is_streaming_frame(data):
            return DStreamRows(gate, data)
        query = QueryStream(gate, self._last)
        query.start(data, order)
        return query


def comes_by_and_by(data: object) -> bool:
    """Tells whether rows come by and by."""
    from pyspark.streaming import DStream

    return isinstance(data, DStream) or is_streaming_frame(data)
