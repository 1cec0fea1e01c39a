"""Runs trials that do nothing as bare Spark jobs, one for each, from two threads; answers as `search_ours`."""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.cluster_program import start_spark
from benchmarks.feed_answers import answer
from benchmarks.search_pace import pace
from pyspark import SparkContext
from pyspark.sql import SparkSession

SLOTS = 2


def nothing(x: float) -> float:
    """A trial."""
    return x


def trial(context: SparkContext, x: float) -> float:
    """Runs a trial; returns when it had ended."""
    if context.parallelize([x], 1).map(nothing).collect() != [x]:
        sys.exit("a job returned something else")
    return time.time()


def measure(session: SparkSession, *, trials: int) -> dict[str, float]:
    """Returns how long a trial took."""
    source = random.Random(0)
    points = [source.random() for _ in range(trials)]
    called = time.time()
    with ThreadPoolExecutor(SLOTS) as threads:
        ends = list(threads.map(lambda x: trial(session.sparkContext, x), points))
    return pace(time.time() - called, ends, trials)


if __name__ == "__main__":
    with start_spark(Path(sys.argv[1])) as spark:
        answer(lambda question: measure(spark, **question))
