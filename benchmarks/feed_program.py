"""Feeds a cluster through the TensorFlowOnSpark interface, and tells how many rows per second got there.

One source for both sides: run by a Python that has TensorFlowOnSpark it measures that, run by ours it measures
Hopyard. For each line on its standard input (``{"what": "train", "rows": 8000}``) it feeds one cluster of two
nodes and answers with a line of JSON. With ``"files"``, a folder, the rows are those of a DataFrame in Spark's memory.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.cluster_program import NODES, start_spark
from benchmarks.feed_answers import answer
from benchmarks.feed_frame import in_memory
from benchmarks.feed_rate import FEATURES, SPARK, Arrivals, read, steady
from pyspark import RDD
from pyspark.sql import SparkSession

BATCH = 100
DIFFERENT = 1000  # rows that a partition repeats, so that making them costs nothing

Row = tuple[list[float], int]


def train(args: argparse.Namespace, ctx: Any) -> None:
    """The function of a node that throws away what it is fed."""
    from tensorflowonspark import TFNode

    arrivals = Arrivals(batch=BATCH)
    feed = TFNode.DataFeed(ctx.mgr)
    while not feed.should_stop():
        rows = len(feed.next_batch(BATCH))
        if rows:
            arrivals.saw(rows)
    arrivals.leave(Path(args.folder) / str(ctx.executor_id))


def infer(args: argparse.Namespace, ctx: Any) -> None:
    """The function of a node that answers each row with its label."""
    from tensorflowonspark import TFNode

    arrivals = Arrivals(batch=BATCH)
    feed = TFNode.DataFeed(ctx.mgr, train_mode=False)
    while not feed.should_stop():
        batch = feed.next_batch(BATCH)
        if batch:
            arrivals.saw(len(batch))
            feed.batch_results([label for _, label in batch])
    arrivals.leave(Path(args.folder) / str(ctx.executor_id))


def make_rows(numbers: Iterable[int]) -> Iterator[Row]:
    """Yields a row for each number."""
    source = random.Random(0)
    rows = [([source.random() for _ in range(FEATURES)], label % 10) for label in range(DIFFERENT)]
    for number in numbers:
        yield rows[number % DIFFERENT]


def rdd(session: SparkSession, rows: int, files: str) -> RDD[Any]:
    """Returns rows as the old library wants them."""
    if files:
        return in_memory(session.read.parquet(files), NODES, NODES).rdd
    return session.sparkContext.parallelize(range(rows), NODES).mapPartitions(make_rows)


def measure(session: SparkSession, *, what: str, rows: int, files: str = "") -> dict[str, float]:
    """Returns rows per second: from the first to the last that a node saw, and over the whole call."""
    from tensorflowonspark import TFCluster

    data = rdd(session, rows, files)
    with tempfile.TemporaryDirectory() as folder:
        args = argparse.Namespace(folder=folder)
        function = {"train": train, "inference": infer}[what]
        cluster = TFCluster.run(
            session.sparkContext,
            function,
            args,
            NODES,
            0,
            input_mode=TFCluster.InputMode.SPARK,
            master_node="chief",
        )
        called = time.monotonic()
        if what == "train":
            cluster.train(data, 1)
        else:
            _check(cluster.inference(data), rows)
        returned = time.monotonic()
        cluster.shutdown(grace_secs=5)  # until the nodes have left their notes
        arrivals = read(Path(folder))
    if (arrived := sum(each.rows for each in arrivals)) != rows or len(arrivals) != NODES:
        sys.exit(f"{arrived} of {rows} rows arrived, on {len(arrivals)} of {NODES} nodes")
    return {"steady": steady(arrivals), "whole": rows / (returned - called)}


def _check(results: RDD[int], rows: int) -> None:
    if (count := results.count()) != rows:
        sys.exit(f"{count} results for {rows} rows")


if __name__ == "__main__":
    with start_spark(Path(sys.argv[1]), SPARK) as session:
        answer(lambda question: measure(session, **question))
