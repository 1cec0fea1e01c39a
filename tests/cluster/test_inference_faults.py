"""What becomes of Spark jobs that ask nodes for results when these fail: on real processes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from hopyard import Cluster, NodeContext, Project
from hopyard.errors import NodeFailed
from hopyard.testing.watching import WORD, say_the_word, sign_in, signed_in, wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

SECONDS = 90
LATE_SECONDS = 15.0  # until after the first task has been there for a while
SOON_SECONDS = 3.0  # less than Spark takes to try a task again


def fail_at_the_first_row(ctx: NodeContext) -> None:
    ctx.feed().next_batch(1)
    raise ArithmeticError("this row has no result")


def double_or_wait(ctx: NodeContext) -> None:
    """Answers nothing at first, and everything in the next attempt."""
    feed = ctx.feed()
    sign_in(ctx)
    while len(batch := feed.next_batch(10)):
        if ctx.attempt == 0:
            ctx.project.put(f"asked/{ctx.rank}", b"")
            threading.Event().wait()
        feed.batch_results([2 * row for row in batch])


def double_in_another_thread(ctx: NodeContext) -> None:
    """Reads all rows at once, while another thread gives results, from the moment on when a test says the word."""
    feed = ctx.feed()
    batches: queue.SimpleQueue[list[int] | None] = queue.SimpleQueue()

    def answer() -> None:
        wait_until(lambda: ctx.project.exists(WORD), "the test says the word", SECONDS)
        while (batch := batches.get()) is not None:
            feed.batch_results([2 * row for row in batch])

    thread = threading.Thread(target=answer)
    thread.start()
    while len(batch := feed.next_batch(10)):
        batches.put(batch)
    batches.put(None)
    thread.join(SECONDS)


def read_beside_a_thread_that_ends(ctx: NodeContext) -> None:
    """Gives no results; another thread, which might, ends when a test says the word."""
    feed = ctx.feed()
    threading.Thread(
        target=wait_until, args=(lambda: ctx.project.exists(WORD), "the test says the word", SECONDS)
    ).start()
    while len(feed.next_batch(10)):
        continue


@pytest.fixture
def aside() -> Iterator[Callable[..., Future[object]]]:
    """Calls something in another thread."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit


def test_a_function_that_fails_ends_the_job_that_asks_it_with_its_cause(
    executors: SparkSession, aside: Callable[..., Future[object]]
) -> None:
    with Cluster(fail_at_the_first_row, nodes=2, feed=True) as cluster:
        results = cluster.inference(executors.range(0, 100, 1, 4), schema="result long")
        count = aside(results.count)
        wait_until(cluster.has_ended, "the run has ended", SECONDS)
        began = time.monotonic()
        with pytest.raises(Exception, match="ArithmeticError: this row has no result"):
            count.result(SECONDS)
        assert time.monotonic() - began < SOON_SECONDS
        with pytest.raises(NodeFailed, match="this row has no result"):
            cluster.shutdown()


def test_a_job_that_asks_nodes_which_start_again_ends_and_the_next_one_gets_its_results(
    executors: SparkSession, aside: Callable[..., Future[object]]
) -> None:
    project = Project.open()
    rows = executors.sparkContext.parallelize(range(100), 4)
    with Cluster(double_or_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        results = aside(cluster.inference(rows).collect)
        victim = signed_in(project, 2)[1]
        wait_until(lambda: project.exists("asked/1"), "node 1 is asked", SECONDS)
        victim.kill()
        # which the driver says, or the last try of a task
        with pytest.raises(Exception, match=r"call inference\(\) again"):
            results.result(SECONDS)
        assert cluster.inference(rows).collect() == list(range(0, 200, 2))
        cluster.shutdown(SECONDS)


def test_another_thread_may_give_its_first_results_late(
    executors: SparkSession, aside: Callable[..., Future[object]]
) -> None:
    rows = executors.sparkContext.parallelize(range(100), 4)
    with Cluster(double_in_another_thread, nodes=2, feed=True) as cluster:
        results = aside(cluster.inference(rows).collect)
        with pytest.raises(TimeoutError):
            results.result(LATE_SECONDS)
        say_the_word(Project.open())
        assert results.result(SECONDS) == list(range(0, 200, 2))
        cluster.shutdown(SECONDS)


def test_results_are_missed_when_the_last_thread_that_could_give_them_has_ended(
    executors: SparkSession, aside: Callable[..., Future[object]]
) -> None:
    rows = executors.sparkContext.parallelize(range(100), 2)
    with Cluster(read_beside_a_thread_that_ends, nodes=2, feed=True) as cluster:
        results = aside(cluster.inference(rows).collect)
        with pytest.raises(TimeoutError):
            results.result(LATE_SECONDS)
        say_the_word(Project.open())
        with pytest.raises(Exception, match=r"asked for more rows, but .* have no results yet"):
            results.result(SECONDS)
        with pytest.raises(NodeFailed, match="ResultsMissing"):
            cluster.shutdown(SECONDS)
