"""RDDs of DStreams."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from hopyard.errors import StreamClosed, StreamFailed
from hopyard.feed.driver.sources import RowsSource
from hopyard.feed.driver.streams.gate import BatchGate
from hopyard.spark.failure import summary

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark import RDD
    from pyspark.streaming import DStream

LOG = logging.getLogger(__name__)


class DStreamRows:
    """The RDDs of a DStream, whose StreamingContext is the user's to start and to stop.

    Args:
        gate: Takes them.
        stream: Where they come from.
    """

    def __init__(self, gate: BatchGate, stream: DStream[Any]) -> None:
        self._gate = gate
        self._context: Any = stream.context()  # its types know of no value
        self._over = threading.Event()
        self._has_warned = False
        self._number = 0
        stream.foreachRDD(self._on_rows)

    def has_ended(self, within_seconds: float) -> bool:
        """Tells whether it was ended, or its context was."""
        from py4j.protocol import Py4JJavaError

        try:
            return self._over.is_set() or bool(self._context.awaitTerminationOrTimeout(within_seconds))
        except Py4JJavaError as error:
            raise StreamFailed(summary(error)) from error

    def end(self) -> None:
        """Takes nothing more."""
        self._over.set()

    def _on_rows(self, moment: datetime, rows: RDD[Any]) -> None:
        """Feeds an RDD. Called by Spark."""
        if self._gate.is_closed:
            self._tell_once(moment)
        elif not rows.isEmpty():
            number, self._number = self._number, self._number + 1
            self._feed(moment, rows, number)

    def _feed(self, moment: datetime, rows: RDD[Any], number: int) -> None:
        try:
            self._gate.let_through(RowsSource(rows), number)
        except StreamClosed:  # which is no failure of the user's context
            self._tell_once(moment)

    def _tell_once(self, moment: datetime) -> None:
        if not self._has_warned:
            LOG.warning("the rows of %s and later ones are not fed: the stream was closed", moment)
            self._has_warned = True
