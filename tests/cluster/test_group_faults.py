"""What becomes of a group of nodes on Spark executors when one of its parts is killed, and how soon."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

import hopyard
from hopyard import Cluster, NodeContext, Project
from hopyard.errors import BackendFailed, NodeFailed, RunStopped
from hopyard.testing.processes import descendants, still_running
from hopyard.testing.watching import say_the_word, sign_in, signed_in, wait_for_the_word, wait_until
from hopyard.tracking import NodeOutcome, NodeState, RunReader, RunState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

NOTICE_SECONDS = 5.0  # from the kill to the error at the driver


def wait_for_ever(ctx: NodeContext) -> None:
    print("about to wait", flush=True)
    sign_in(ctx)
    threading.Event().wait()


def train_from_checkpoint(ctx: NodeContext) -> tuple[int, str | None]:
    """Saves a checkpoint and waits for ever at first; the second attempt returns what it finds."""
    saved = Path(ctx.checkpoint_dir, "weights")
    found = saved.read_text() if saved.exists() else None
    if ctx.attempt == 0:
        if ctx.rank == 0:
            saved.write_text("learnt so far")
        print(f"attempt {ctx.attempt}", flush=True)
        sign_in(ctx)
        threading.Event().wait()
    return ctx.attempt, found


def fail_at_the_end(ctx: NodeContext) -> str:
    """Is done with its training, and then fails: the last node to end."""
    if ctx.rank == 0:
        return "trained"
    wait_until(lambda: ctx.project.exists("chief-is-done"), "the chief is done", 60)
    raise RuntimeError("could not export the model")


def java_of(process: psutil.Process) -> psutil.Process:
    """Returns the executor that a node runs under."""
    return next(parent for parent in process.parents() if parent.name() == "java")


def python_worker_of(process: psutil.Process) -> psutil.Process:
    """Returns the Python process of the Spark task, which supervises the node."""
    warden, worker, *_ = process.parents()
    assert "warden" in " ".join(warden.cmdline())
    return worker


def links_of(process: psutil.Process) -> set[tuple[int, int]]:
    """Returns the ports, here and there, of a supervisor's connections to the driver's server."""
    ours = {end.laddr.port for end in psutil.Process().net_connections("tcp") if end.status == "LISTEN"}
    ends = python_worker_of(process).net_connections("tcp")
    return {
        (end.laddr.port, end.raddr.port)
        for end in ends
        if end.status == "ESTABLISHED" and end.raddr.port in ours
    }


def start(name: str, **options: int) -> tuple[Cluster, list[psutil.Process]]:
    cluster = Cluster(wait_for_ever, nodes=2, name=name, **options).start()
    return cluster, signed_in(Project.open(), 2)


def seconds_to_fail(cluster: Cluster) -> tuple[float, NodeFailed]:
    began = time.monotonic()
    with pytest.raises(NodeFailed) as caught:
        cluster.wait(60)
    return time.monotonic() - began, caught.value


def outcomes(cluster: Cluster) -> list[NodeOutcome]:
    return list(RunReader(Project.open(), cluster.run_id).outcomes())


def test_a_killed_node_ends_the_group(executors: SparkSession) -> None:
    cluster, nodes = start("killed-node")
    family = [*nodes, *descendants(nodes[0].pid)]
    nodes[1].kill()
    seconds, error = seconds_to_fail(cluster)
    assert seconds < NOTICE_SECONDS
    assert "node 1 (worker)" in str(error)
    assert "killed by signal 9" in str(error)
    assert "about to wait" in error.tail
    assert not still_running(family, 5)
    assert [outcome.state for outcome in outcomes(cluster)] == [NodeState.KILLED, NodeState.FAILED]


def test_a_dropped_connection_is_made_again(executors: SparkSession) -> None:
    if shutil.which("ss") is None or os.geteuid() != 0:
        pytest.skip("to drop a connection of another process takes root and the ss command")
    cluster = Cluster(wait_for_the_word, nodes=2, name="dropped-link").start()
    node = signed_in(Project.open(), 2)[1]
    for _ in range(2):
        dropped = links_of(node)
        assert dropped
        for here, there in dropped:
            subprocess.run(["ss", "-K", "sport", "=", str(here), "dport", "=", str(there)], check=True)
        wait_until(lambda: bool(links_of(node) - dropped), "the node has a new connection", 10)  # noqa: B023
    say_the_word(Project.open())
    assert cluster.wait(60).values == (0, 1)


def test_a_killed_supervisor_ends_the_group(executors: SparkSession) -> None:
    cluster, nodes = start("killed-supervisor")
    python_worker_of(nodes[1]).kill()
    seconds, error = seconds_to_fail(cluster)
    assert seconds < NOTICE_SECONDS
    assert (error.rank, error.message.split(" (")[0]) == (1, "its executor was lost")
    assert not still_running(nodes, 5)
    chief, worker = outcomes(cluster)
    assert chief.message == "it was stopped: a part of the run was lost"
    assert worker.state is NodeState.FAILED


def test_a_killed_executor_ends_the_group(executors: SparkSession) -> None:
    cluster, nodes = start("killed-executor")
    java_of(nodes[1]).kill()
    seconds, error = seconds_to_fail(cluster)
    assert seconds < NOTICE_SECONDS
    assert (error.rank, error.message.split(" (")[0]) == (1, "its executor was lost")
    assert not still_running(nodes, 5)
    record = RunReader(Project.open(), cluster.run_id).record()
    assert record.state is RunState.FAILED
    assert [outcome.state for outcome in outcomes(cluster)] == [NodeState.KILLED, NodeState.FAILED]


def test_a_restarted_run_goes_on_from_its_checkpoint_on_new_executors(executors: SparkSession) -> None:
    project = Project.open()
    cluster = Cluster(train_from_checkpoint, nodes=2, name="restarted", max_restarts=1).start()
    java_of(signed_in(project, 2)[1]).kill()
    result = cluster.wait(120)
    assert result.values == ((1, "learnt so far"), (1, "learnt so far"))
    run = RunReader(project, result.run_id)
    assert run.record().attempts == 2
    assert "node 1 (worker)" in run.record().restarts[0]
    assert list(run.log(0)) == ["attempt 0", "[hopyard] attempt 1 begins"]
    assert [outcome.attempt for outcome in run.outcomes()] == [1, 1]
    folder = project.relative(result.logdir)
    assert {"0.json", "1.json", "0.1.json", "1.1.json"} == {
        entry.name for entry in project.list(f"{folder}/nodes")
    }


def test_a_stop_ends_all_nodes_and_marks_the_run_killed(executors: SparkSession) -> None:
    cluster, nodes = start("stopped")
    began = time.monotonic()
    cluster.stop("enough")
    assert time.monotonic() - began < NOTICE_SECONDS
    assert not still_running(nodes, 1)
    with pytest.raises(RunStopped, match="enough"):
        cluster.wait()
    assert RunReader(Project.open(), cluster.run_id).record().state is RunState.KILLED
    assert {outcome.message for outcome in outcomes(cluster)} == {"it was stopped: enough"}


def test_a_failure_after_the_others_are_done_is_raised(executors: SparkSession) -> None:
    cluster = Cluster(fail_at_the_end, nodes=2, name="late").start()
    run = RunReader(Project.open(), cluster.run_id)
    wait_until(lambda: cluster.nodes()[0].phase.value == "finished", "the chief is done", 60)
    Project.open().put("chief-is-done", b"")
    with pytest.raises(NodeFailed, match="could not export the model"):
        cluster.shutdown()
    assert run.record().state is RunState.FAILED


def test_spark_is_still_there_after_a_shutdown(executors: SparkSession) -> None:
    hopyard.launch(len, ("abc",))
    assert executors.range(3).count() == 3


def test_a_job_that_somebody_cancels_in_spark_is_told_as_that(executors: SparkSession) -> None:
    cluster, nodes = start("cancelled")
    executors.sparkContext.cancelAllJobs()
    with pytest.raises(BackendFailed, match="cancelled"):
        cluster.wait(60)
    assert not still_running(nodes, 5)
    assert RunReader(Project.open(), cluster.run_id).record().state is RunState.FAILED
