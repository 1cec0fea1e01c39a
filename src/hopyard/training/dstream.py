"""RDDs of DStreams."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from hopyard.cluster.spark_job import summary
from hopyard.errors import StreamClosed, StreamFailed
from hopyard.feed.sources import RowsSource
from hopyard.training.stream_gate import Gate

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark import RDD
    from pyspark.streaming import DStream, StreamingContext

LOG = logging.getLogger(__name__)


class DStreamRows:
    """The RDDs of a DStream, whose StreamingContext is the user's to start and to stop."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._over = threading.Event()
        self._number = 0
        self._context: StreamingContext | None = None

    def start(self, stream: DStream[Any]) -> None:
        """Begins to receive."""
        self._context = stream.context()
        stream.foreachRDD(self._on_rows)

    def has_ended(self, within_seconds: float) -> bool:
        """Tells whether it was ended, or its context has."""
        from py4j.protocol import Py4JJavaError

        assert self._context is not None
        try:
            return self._over.is_set() or self._context.awaitTerminationOrTimeout(within_seconds)
        except Py4JJavaError as error:
            raise StreamFailed(summary(error)) from error

    def end(self) -> None:
        """Takes nothing more."""
        self._over.set()

    def _on_rows(self, moment: datetime, rows: RDD[Any]) -> None:
        """Feeds an RDD. Called by Spark."""
        if self._gate.is_closed:
            LOG.warning("the rows of %s are not fed: the stream was closed", moment)
        elif not rows.isEmpty():
            number, self._number = self._number, self._number + 1
            self._feed(rows, number)

    def _feed(self, rows: RDD[Any], number: int) -> None:
        try:
            self._gate.let_through(RowsSource(rows), number)
        except StreamClosed as closed:  # no failure of the user's context
            LOG.warning("%s", closed)
