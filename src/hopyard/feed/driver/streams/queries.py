"""Micro-batches of streaming DataFrames."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments, StreamClosed, StreamFailed
from hopyard.feed.driver.sources import FrameSource
from hopyard.feed.driver.streams.gate import BatchGate
from hopyard.spark.failure import summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

LOG = logging.getLogger(__name__)
START_SECONDS = 60.0
COMMIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOrder:
    """How a stream is to be read.

    Attributes:
        checkpoint: The folder in which Spark keeps how far a streaming DataFrame was read.
        trigger: When Spark makes a micro-batch of one; the keyword arguments of ``writeStream.trigger``.
    """

    checkpoint: str | None = None
    trigger: Mapping[str, Any] | None = None

    def check(self, data: object) -> None:
        """Refuses what makes no sense for the data.

        Raises:
            BadArguments: A checkpoint is missing, or there is one for data that is no streaming DataFrame.
        """
        is_frame = is_streaming_frame(data)
        if not is_frame and (self.checkpoint is not None or self.trigger is not None):
            raise BadArguments("train", "checkpoint and trigger are for streaming DataFrames only")
        if is_frame and not self.checkpoint:
            raise BadArguments(
                "train_stream",
                "a streaming DataFrame needs checkpoint=, a folder that all executors can reach and that is its own, "
                "where Spark keeps how far it was read",
            )


class QueryStream:
    """The micro-batches of a streaming DataFrame.

    Args:
        gate: Takes them.
        last: The last micro-batch that was fed, by query; shared by all streams of a run.
    """

    def __init__(self, gate: BatchGate, last: dict[str, int]) -> None:
        self._gate = gate
        self._last = last
        self._query: StreamingQuery | None = None
        self._has_started = threading.Event()
        self._quiet_since: float | None = None

    def start(self, frame: DataFrame, order: StreamOrder) -> None:
        """Begins to read.

        Raises:
            BadArguments: Spark cannot read the stream so.
        """
        from pyspark.errors import PySparkException

        try:
            writer = frame.writeStream.foreachBatch(self._on_batch).option(
                "checkpointLocation", order.checkpoint
            )
            if order.trigger is not None:
                writer = writer.trigger(**order.trigger)
            self._query = writer.start()
        except (PySparkException, TypeError) as error:
            raise BadArguments(
                "train_stream", f"Spark cannot read the stream so: {summary(error)}"
            ) from error
        self._has_started.set()

    def has_ended(self, within_seconds: float) -> bool:
        """Tells whether the query has ended."""
        from pyspark.errors import StreamingQueryException

        assert self._query is not None
        try:
            return bool(self._query.awaitTermination(within_seconds))  # type: ignore[arg-type]  # or a part of one
        except StreamingQueryException as error:
            raise StreamFailed(summary(error)) from error

    def end(self) -> None:
        """Ends the query once the checkpoint says that its last micro-batch is done."""
        assert self._query is not None
        if self._quiet_since is None:
            self._quiet_since = time.monotonic()
        is_late = time.monotonic() - self._quiet_since > COMMIT_SECONDS
        if is_late:
            LOG.warning(
                "query %s has not come to rest for %g s; it is stopped, and its last micro-batch may be fed again",
                self._query.id,
                COMMIT_SECONDS,
            )
        if is_late or not self._query.status["isTriggerActive"]:
            self._query.stop()

    def _on_batch(self, frame: DataFrame, number: int) -> None:
        """Feeds a micro-batch; it counts as done when this returns. Called by Spark."""
        if not self._has_started.wait(START_SECONDS):
            raise StreamClosed(number)
        assert self._query is not None
        if number <= self._last.get(self._query.id, -1):
            LOG.info("micro-batch %d of query %s was fed before", number, self._query.id)
            return
        self._gate.let_through(FrameSource(frame), number)
        self._last[self._query.id] = number


def is_streaming_frame(data: object) -> bool:
    """Tells whether the rows of a DataFrame come by and by."""
    from pyspark.sql import DataFrame

    return isinstance(data, DataFrame) and data.isStreaming
