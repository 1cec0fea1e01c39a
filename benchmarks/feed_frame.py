"""A DataFrame in Spark's memory, spread evenly; apart from `feed_native`, which needs Hopyard."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from pyspark.sql import DataFrame, SparkSession

TRIES = 50


def in_memory(files: DataFrame, partitions: int, executors: int) -> DataFrame:
    """Returns the rows of files in memory, as many partitions on each executor, or one would work alone in the end.

    Spark gives a partition to whoever is free: often five of eight to one of two.
    """
    for _ in range(TRIES):
        # a plan of its own: Spark would read the bare one from memory as well
        cached = files.coalesce(partitions).cache()
        cached.count()
        if [*_partitions(files.sparkSession).values()] == [partitions // executors] * executors:
            return cached
        cached.unpersist(blocking=True)
    sys.exit(
        f"Spark did not spread {partitions} partitions evenly over {executors} executors in {TRIES} tries"
    )


def _partitions(session: SparkSession) -> Counter[str]:
    """Returns how many partitions each executor has in its memory."""
    context: Any = session.sparkContext._jsc.sc()  # noqa: SLF001 (pyspark does not show it)
    context.listenerBus().waitUntilEmpty()
    (kept,) = _listed(context.statusStore().rddList(True))
    partitions = _listed(context.statusStore().rdd(kept.id()).partitions().get())
    return Counter(each.executors().mkString() for each in partitions)


def _listed(items: Any) -> list[Any]:
    return [items.apply(number) for number in range(items.size())]
