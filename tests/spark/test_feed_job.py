"""The Spark job that feeds: it ends when it is cancelled, whenever that is, and Spark has nothing to warn of."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext
from hopyard.errors import FeedJobFailed, NodeFailed
from hopyard.feed.driver.sources import FeedJob
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.task.partition_sender import FeedPlan, PartitionReport
from hopyard.testing.watching import wait_until

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEDULER = "org.apache.spark.scheduler.DAGScheduler"


@contextmanager
def warnings_of_spark(spark: SparkSession) -> Iterator[Callable[[], str]]:
    """Gives a context, and in it what Spark's scheduler has warned of until it is asked."""

    def warned() -> str:
        spark.sparkContext.parallelize([0], 1).count()  # one thread does all that is asked of it, in turn
        return str(written.toString())

    java: Any = spark.sparkContext._jvm
    written = java.java.io.StringWriter()
    log4j = java.org.apache.logging.log4j
    appender = log4j.core.appender.WriterAppender.createAppender(None, None, written, "test", False, True)
    appender.start()
    logger = log4j.LogManager.getLogger(SCHEDULER)
    level = logger.getLevel()
    logger.setLevel(log4j.Level.WARN)
    logger.addAppender(appender)
    try:
        yield warned
    finally:
        logger.removeAppender(appender)
        logger.setLevel(level)


@dataclass(frozen=True)
class Rows:
    """A source whose job begins when told, and does not end by itself before a file is there."""

    context: SparkContext
    over: Path
    begin: threading.Event = field(default_factory=threading.Event)
    is_pickled = True

    def feed(self, plan: FeedPlan) -> list[PartitionReport]:
        assert self.begin.wait(30)
        over = self.over
        self.context.parallelize([0], 1).foreach(lambda _: wait_until(over.exists, "the test ends it", 60))
        return []

    def ask(self, *_: object) -> Any:
        raise NotImplementedError


@pytest.fixture
def rows(spark: SparkSession, tmp_path: Path) -> Iterator[Rows]:
    given = Rows(spark.sparkContext, tmp_path / "over")
    yield given
    given.over.touch()
    given.begin.set()


def job_of(source: Rows) -> FeedJob:
    plan = FeedPlan(feed=0, epoch=0, nodes=(), signer=RowSigner(b"key"))
    return FeedJob(source, plan, description="a test", timeout=60)


def read_a_row_and_fail(ctx: NodeContext) -> None:
    for _ in ctx.feed():
        raise ValueError("boom")


def test_a_job_is_cancelled_once(spark: SparkSession, rows: Rows) -> None:
    job = job_of(rows)
    rows.begin.set()
    with warnings_of_spark(spark) as warnings:
        job.start()
        wait_until(lambda: bool(rows.context.statusTracker().getActiveJobsIds()), "Spark has the job", 30)
        job.cancel()
        with pytest.raises(FeedJobFailed, match="cancelled"):
            job.reports()
        job.cancel()
        assert warnings() == ""


def test_a_job_that_spark_has_not_got_when_it_is_cancelled_is_cancelled_later(
    spark: SparkSession, rows: Rows
) -> None:
    job = job_of(rows)
    with warnings_of_spark(spark) as warnings:
        job.start()
        cancelling = threading.Thread(target=job.cancel)
        cancelling.start()
        cancelling.join(1)
        assert cancelling.is_alive()
        rows.begin.set()
        wait_until(lambda: not cancelling.is_alive(), "the job has ended", 20)
        with pytest.raises(FeedJobFailed, match="cancelled"):
            job.reports()
        assert warnings() == ""


def test_the_failure_of_a_fed_node_is_no_reason_for_spark_to_warn(spark: SparkSession) -> None:
    with warnings_of_spark(spark) as warnings:
        cluster = Cluster(read_a_row_and_fail, nodes=2, feed=True).start()
        with pytest.raises(NodeFailed, match="boom"):
            list(cluster.train(spark.range(4000)))
        with pytest.raises(NodeFailed, match="boom"):
            cluster.shutdown()
        assert warnings() == ""
