"""Nodes that have left their Spark tasks: who can have the slots, who notices what, and how soon."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from hopyard import Cluster, NodeContext, Project
from hopyard.control.gang import Timeouts
from hopyard.errors import NodeFailed
from hopyard.protocol.plan import Plan
from hopyard.run.options import TrainSpec
from hopyard.testing.detaching import DetachingBackend
from hopyard.testing.processes import descendants, still_running
from hopyard.testing.watching import say_the_word, sign_in, signed_in, wait_for_the_word, wait_until
from hopyard.tracking import NodeState, RunReader
from hopyard.worker.lease import longest_silence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

NOTICE_SECONDS = 5.0  # from the kill to the error at the driver
MEGABYTES = 50


def wait_for_ever(ctx: NodeContext) -> None:
    print("about to wait", flush=True)
    sign_in(ctx)
    threading.Event().wait()


def many_weights() -> bytes:
    return bytes(MEGABYTES * 1024 * 1024)


def train_at_the_second_attempt(ctx: NodeContext) -> int:
    if ctx.attempt == 0:
        sign_in(ctx)
        threading.Event().wait()
    return ctx.attempt


def start(fn: Callable[..., object], spark: SparkSession, nodes: int = 2, **options: int) -> Cluster:
    return Cluster(fn, nodes=nodes, backend=DetachingBackend(spark.sparkContext), **options).start()  # type: ignore[arg-type]


def family_of(node: psutil.Process) -> list[psutil.Process]:
    """Returns the warden of a node, its supervisor, and who waits for that."""
    family = node.parents()[:3]
    assert ["warden" in " ".join(each.cmdline()) for each in family] == [True, False, False]
    assert all("hopyard.worker.detach.main" in " ".join(each.cmdline()) for each in family[1:])
    return family


def kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def executor_ids(spark: SparkSession) -> set[str]:
    listed = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return {listed.apply(index).id() for index in range(listed.size())}


def seconds_to_fail(cluster: Cluster) -> tuple[float, NodeFailed]:
    began = time.monotonic()
    with pytest.raises(NodeFailed) as caught:
        cluster.wait(60)
    return time.monotonic() - began, caught.value


def test_a_spark_job_finds_slots_while_as_many_nodes_live(executors: SparkSession) -> None:
    cluster = start(wait_for_the_word, executors)
    nodes = signed_in(Project.open(), 2)
    assert executors.range(1000, numPartitions=4).count() == 1000
    assert len(still_running(nodes, 0)) == 2
    say_the_word(Project.open())
    assert cluster.wait(60).values == (0, 1)


def test_a_supervisor_is_no_descendant_of_an_executor(executors: SparkSession) -> None:
    cluster = start(wait_for_the_word, executors, nodes=1)
    (node,) = signed_in(Project.open(), 1)
    family = family_of(node)
    assert not set(family) & set(descendants(os.getpid()))
    assert {os.getsid(each.pid) for each in family[1:]} != {os.getsid(0)}
    say_the_word(Project.open())
    cluster.wait(60)
    assert not still_running(family, 5)


def test_a_large_value_comes_back_whole(executors: SparkSession) -> None:
    cluster = start(many_weights, executors, nodes=1)
    assert cluster.wait(120).value == bytes(MEGABYTES * 1024 * 1024)


def test_a_killed_node_ends_the_group(executors: SparkSession) -> None:
    cluster = start(wait_for_ever, executors)
    nodes = signed_in(Project.open(), 2)
    family = [*nodes, *family_of(nodes[0]), *family_of(nodes[1])]
    nodes[1].kill()
    seconds, error = seconds_to_fail(cluster)
    assert seconds < NOTICE_SECONDS
    assert "node 1 (worker)" in str(error)
    assert "killed by signal 9" in str(error)
    assert "about to wait" in error.tail
    assert not still_running(family, 5)


def test_a_killed_supervisor_ends_the_group(executors: SparkSession) -> None:
    cluster = start(wait_for_ever, executors)
    nodes = signed_in(Project.open(), 2)
    family = [*nodes, *family_of(nodes[0]), *family_of(nodes[1])]
    family_of(nodes[1])[1].kill()
    seconds, error = seconds_to_fail(cluster)
    assert seconds < NOTICE_SECONDS
    assert error.rank == 1
    assert error.message.startswith("its supervisor was killed by signal 9 (SIGKILL)")
    assert not still_running(family, 5)
    chief, worker = RunReader(Project.open(), cluster.run_id).outcomes()
    assert (chief.state, chief.message) == (NodeState.KILLED, "it was stopped: node 1 failed")
    assert (worker.state, worker.message) == (NodeState.FAILED, error.message)


def test_a_node_that_nobody_can_tell_of_is_lost_after_its_lease(executors: SparkSession) -> None:
    cluster = start(wait_for_ever, executors, lease_seconds=3)
    nodes = signed_in(Project.open(), 2)
    _, supervisor, waiting = family_of(nodes[1])
    waiting.kill()
    supervisor.kill()
    seconds, error = seconds_to_fail(cluster)
    assert seconds < 3 + NOTICE_SECONDS
    assert (error.rank, error.message) == (1, "nothing was heard of it for 3 s (lease)")
    assert not still_running(nodes, 5)


def test_of_a_supervisor_that_hangs_for_good_nothing_is_left_soon_after_its_lease(
    executors: SparkSession,
) -> None:
    cluster = start(wait_for_ever, executors, lease_seconds=3)
    nodes = signed_in(Project.open(), 2)
    family = family_of(nodes[1])
    scratch = Path(nodes[1].cmdline()[-1])
    assert scratch.name.startswith("node-")
    family[1].suspend()
    try:
        _, error = seconds_to_fail(cluster)
        assert (error.rank, error.message) == (1, "nothing was heard of it for 3 s (lease)")
        assert not still_running([*nodes, *family], longest_silence(3) + 2 * NOTICE_SECONDS)
        assert not scratch.exists()
    finally:
        kill(family)


def test_a_node_outlives_its_executor(executors: SparkSession) -> None:
    before = executor_ids(executors)
    cluster = start(wait_for_the_word, executors)
    nodes = signed_in(Project.open(), 2)
    killed = descendants(os.getpid(), "CoarseGrainedExecutorBackend")
    assert len(killed) == 2
    for java in killed:
        java.kill()
    wait_until(lambda: not still_running(killed, 0), "the executors are gone", 10)
    status = [each.phase.value for each in cluster.nodes()]
    assert (status, len(still_running(nodes, 0))) == (["running", "running"], 2)
    say_the_word(Project.open())
    assert cluster.wait(60).values == (0, 1)
    # Spark looks only every 15 s whether it has room for a barrier stage again
    wait_until(lambda: len(executor_ids(executors) - before) == 2, "there are new executors", 60)


def test_a_failed_run_is_started_again(executors: SparkSession) -> None:
    cluster = start(train_at_the_second_attempt, executors, max_restarts=1)
    signed_in(Project.open(), 2)[0].kill()
    assert cluster.wait(120).values == (1, 1)


def explode_when_detached() -> Undetachable:
    """Unpickles on executors, and not in a supervisor that leaves them."""
    if "hopyard.worker.detach.main" in Path(sys.argv[0]).as_posix().replace("/", "."):
        raise RuntimeError("cannot be unpickled here")
    return Undetachable()


@dataclass(frozen=True)
class Undetachable:
    """A companion of rank 0 that keeps its supervisor from starting."""

    @contextmanager
    def __call__(self, logdir: Path, announce: Callable[[str, str], None]) -> Iterator[None]:
        yield

    def __reduce__(self) -> tuple[object, ...]:
        return explode_when_detached, ()


def test_a_supervisor_that_does_not_start_is_told_with_its_cause(executors: SparkSession) -> None:
    usual = TrainSpec.of(1, {})
    spec = replace(usual, plan=Plan.of(2), timeouts=Timeouts(start=60.0), companions=(Undetachable(),))
    cluster = Cluster(wait_for_ever, spec=spec, backend=DetachingBackend(executors.sparkContext)).start()
    with pytest.raises(NodeFailed) as caught:
        cluster.wait(60)
    words = "its supervisor did not start: it ended: RuntimeError: cannot be unpickled here"
    assert caught.value.message == words
    assert "Traceback (most recent call last):" in caught.value.tail
