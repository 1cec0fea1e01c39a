"""A scheduler of Spark that hangs: an accumulator of the program's own keeps it from going on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark import AccumulatorParam, InheritableThread

from hopyard import Cluster, NodeContext
from hopyard.errors import SchedulerHangs
from hopyard.spark.scheduler import SchedulerWatch
from hopyard.testing.watching import wait_until

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PLACE = "org.apache.spark.api.python.PythonAccumulatorV2"


@dataclass(frozen=True)
class Slow(AccumulatorParam[int]):
    """Adds at once on executors; in the driver, whose scheduler waits for it, only when a file is there."""

    driver: int
    begun: Path
    over: Path

    def zero(self, value: int) -> int:
        return 0

    def addInPlace(self, value1: int, value2: int) -> int:  # noqa: N802  Spark's name
        if os.getpid() == self.driver:
            self.begun.touch()
            wait_until(self.over.exists, "the test ends it", 60)
        return value1 + value2


@contextmanager
def hanging(context: SparkContext, folder: Path) -> Iterator[None]:
    """Gives a context in which Spark's scheduler waits for the program."""
    param = Slow(os.getpid(), folder / "begun", folder / "over")
    total = context.accumulator(0, param)
    job = InheritableThread(
        target=lambda: context.parallelize([1], 1).foreach(lambda one: total.add(one)), session=None
    )
    job.start()
    try:
        wait_until(param.begun.exists, "the scheduler waits", 60)
        yield
    finally:
        param.over.touch()
        job.join()


def count_rows(ctx: NodeContext) -> int:
    return sum(len(batch) for batch in ctx.feed())


def test_a_scheduler_that_hangs_is_told_with_the_call_that_it_does_not_come_out_of(
    spark: SparkSession, tmp_path: Path
) -> None:
    times = iter([0.0, 2.0, 6.0, 11.0, 13.0, 30.0])
    watch = SchedulerWatch(spark.sparkContext, 10, clock=lambda: next(times))
    with hanging(spark.sparkContext, tmp_path):
        for _ in range(3):
            watch.look()
        with pytest.raises(SchedulerHangs, match=rf"come out of {PLACE}\..* for 10 s \(feed_timeout\)"):
            watch.look()
    spark.range(3).count()
    watch.look()


def test_a_scheduler_that_has_nothing_to_do_does_not_hang(spark: SparkSession) -> None:
    times = iter([0.0, 2.0, 100.0, 200.0])
    watch = SchedulerWatch(spark.sparkContext, 10, clock=lambda: next(times))
    for _ in range(3):
        watch.look()


def test_rows_that_a_hanging_scheduler_never_brings_are_not_waited_for_longer_than_feed_timeout(
    spark: SparkSession, tmp_path: Path
) -> None:
    cluster = Cluster(count_rows, nodes=1, feed=True).start()
    cluster.ready()
    failures: list[BaseException] = []

    def train() -> None:
        try:
            cluster.train(spark.range(10), feed_timeout=2)
        except SchedulerHangs as error:
            failures.append(error)

    with hanging(spark.sparkContext, tmp_path):
        training = threading.Thread(target=train, daemon=True)
        training.start()
        training.join(50)
        assert not training.is_alive()
    (error,) = failures
    assert PLACE in str(error)
    with pytest.raises(SchedulerHangs):
        cluster.shutdown()
