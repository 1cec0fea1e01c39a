"""What becomes of a feed when a part of it is killed, or slow: on real processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import psutil
import pytest

from hopyard import Cluster, NodeContext, Project
from hopyard.errors import NodeFailed
from hopyard.feed.account import EpochAccount
from hopyard.feed.state import FeedState
from hopyard.testing.processes import descendants, still_running
from hopyard.testing.watching import sign_in, signed_in, wait_until

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

NOTICE_SECONDS = 5.0
PARTITIONS = 4
ROWS = 150  # of a megabyte each: two partitions are more than all inboxes and windows hold
SECONDS = 120

Feed = Callable[[Cluster], Future[tuple[EpochAccount, ...]]]


class BigRows:
    """Makes rows of a megabyte for each partition."""

    def __call__(self, index: int, _: Iterator[int]) -> Iterator[tuple[int, int, bytes]]:
        for number in range(ROWS):
            yield index, number, bytes(1 << 20)


def collect_when_told(ctx: NodeContext) -> tuple[list[tuple[int, int]], int]:
    """Reads one row and then nothing until the test says so; returns all rows, and the most memory it took."""
    feed = ctx.feed()
    sign_in(ctx)
    seen: list[tuple[int, int]] = []
    most = 0
    while len(batch := feed.next_batch(1)):
        if not seen:
            wait_until(lambda: ctx.project.exists("the-word"), "the test says the word", SECONDS)
        seen += [(partition, number) for partition, number, _ in batch]
        most = max(most, psutil.Process().memory_info().rss)
    return seen, most


def rows(spark: SparkSession) -> RDD[tuple[int, int, bytes]]:
    return spark.sparkContext.parallelize(range(PARTITIONS), PARTITIONS).mapPartitionsWithIndex(BigRows())


@pytest.fixture
def executors(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark with all its executors, at the start of a test and at its end."""
    yield spark
    scala = spark.sparkContext._jsc.sc()
    wait_until(lambda: scala.getExecutorMemoryStatus().size() == 3, "both executors are back", 90)


@pytest.fixture
def fed(executors: SparkSession) -> Iterator[Feed]:
    """Feeds a cluster in another thread, until its nodes are full."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda cluster: pool.submit(cluster.train, rows(executors))


def start() -> tuple[Cluster, list[psutil.Process]]:
    cluster = Cluster(collect_when_told, nodes=2, feed=True).start()
    return cluster, signed_in(Project.open(), 2)


def wait_until_full(cluster: Cluster) -> None:
    wait_until(
        lambda: all(FeedState.of(node.notes).blocked for node in cluster.nodes()),
        "both nodes are full",
        SECONDS,
    )


def feeders() -> list[psutil.Process]:
    """Returns the Python processes of Spark's tasks; the nodes have left theirs."""
    daemons = descendants(psutil.Process().pid, "pyspark.daemon")
    known = {process.pid for process in daemons}
    return [process for process in daemons if process.ppid() in known]


def check_all_came_once(cluster: Cluster, account: EpochAccount) -> None:
    Project.open().put("the-word", b"")
    values = cluster.shutdown().values
    seen = sorted(row for node, _ in values for row in node)
    assert seen == [(partition, number) for partition in range(PARTITIONS) for number in range(ROWS)]
    assert (account.rows, account.partitions) == (PARTITIONS * ROWS, PARTITIONS)
    assert account.by_node == {rank: len(node) for rank, (node, _) in enumerate(values) if node}


def test_a_node_that_is_killed_while_it_is_fed_is_told_with_its_cause(
    fed: Feed,
) -> None:
    cluster, nodes = start()
    account = fed(cluster)
    wait_until_full(cluster)
    began = time.monotonic()
    nodes[1].kill()
    with pytest.raises(NodeFailed, match=r"node 1 \(worker\)") as caught:
        account.result(SECONDS)
    assert time.monotonic() - began < NOTICE_SECONDS
    assert "killed by signal 9" in str(caught.value)
    assert not still_running(nodes, 5)


def test_a_feeder_that_is_killed_is_repeated_and_no_row_comes_twice(
    fed: Feed,
) -> None:
    cluster, _ = start()
    account = fed(cluster)
    wait_until_full(cluster)
    victims = feeders()
    assert victims
    for victim in victims:
        victim.kill()
    wait_until(lambda: any(victim.pid not in _pids(victims) for victim in feeders()), "Spark repeats", 60)
    Project.open().put("the-word", b"")
    (told,) = account.result(SECONDS)
    assert told.skipped > 0
    check_all_came_once(cluster, told)


def _pids(processes: list[psutil.Process]) -> set[int]:
    return {process.pid for process in processes}


def test_an_executor_that_is_killed_while_it_feeds_costs_no_row(
    fed: Feed,
) -> None:
    cluster, _ = start()
    account = fed(cluster)
    wait_until_full(cluster)
    victim = next(parent for parent in feeders()[0].parents() if parent.name() == "java")
    victim.kill()
    Project.open().put("the-word", b"")
    (told,) = account.result(SECONDS)
    check_all_came_once(cluster, told)


def test_a_slow_node_keeps_rows_waiting_in_spark_not_in_its_memory(
    fed: Feed,
) -> None:
    cluster, nodes = start()
    account = fed(cluster)
    wait_until_full(cluster)
    full = [node.memory_info().rss for node in nodes]
    Project.open().put("the-word", b"")
    (told,) = account.result(SECONDS)
    values = cluster.shutdown().values
    assert told.rows == PARTITIONS * ROWS
    assert max(full) < 500 << 20
    assert max(most for _, most in values) < 500 << 20
