"""What `TFCluster.train` and `TFCluster.inference` are given to feed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from hopyard.errors import BadArguments

LOG = logging.getLogger(__name__)
EPOCHS = 10
POLL_SECONDS = 1


def epochs(num_epochs: int) -> int:
    """Returns how often rows are to be fed.

    Raises:
        BadArguments: It is negative.
    """
    if num_epochs < 0:
        raise BadArguments("train", f"num_epochs={num_epochs} is negative")
    if num_epochs == 0:
        LOG.warning("num_epochs=0 means %d epochs; say how many you want", EPOCHS)
        return EPOCHS
    return num_epochs


def as_rdd(data: object) -> object:
    """Returns a DataFrame as the RDD of its rows; all else as it is."""
    from pyspark.sql import DataFrame

    return data.rdd if isinstance(data, DataFrame) else data


def is_stream(data: object) -> bool:
    """Tells whether rows come for ever."""
    from pyspark.sql import DataFrame
    from pyspark.streaming import DStream

    return data.isStreaming if isinstance(data, DataFrame) else isinstance(data, DStream)


def drain(ssc: Any, is_wanted: Callable[[], bool]) -> None:
    """Waits for the end of a stream; ends it, with the rows that have come, when nobody wants more of it.

    Args:
        ssc: Its ``StreamingContext``.
        is_wanted: Whether a node is left that could be fed, and nobody has asked for the end.
    """
    while not ssc.awaitTerminationOrTimeout(POLL_SECONDS):
        if not is_wanted():
            LOG.info("no more rows are wanted: the stream is stopped")
            ssc.stop(stopSparkContext=False, stopGraceFully=True)
            return
