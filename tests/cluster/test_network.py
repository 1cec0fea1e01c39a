"""A node whose network is cut: a worker in a network namespace of its own, whose cable is pulled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from hopyard import Project
from hopyard.testing.processes import still_running
from hopyard.testing.standalone import StandaloneSpark
from hopyard.tracking import NodeState, RunState, find_run

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

NAMESPACE = "hopyard-test"
OUTSIDE, INSIDE = "10.231.7.1", "10.231.7.2"
CABLE, PLUG = "hopyard-out", "hopyard-in"
LEASE_SECONDS = 4.0

DRIVER = """
    import sys, time
    import hopyard
    from pyspark.sql import SparkSession

    def train(ctx):
        import os, threading
        ctx.project.put(f"up-{ctx.rank}", str(os.getpid()).encode())
        threading.Event().wait()

    builder = SparkSession.builder.master(sys.argv[1]).config("spark.driver.host", sys.argv[2])
    spark = builder.config("spark.executor.memory", "512m").config("spark.ui.enabled", "false").getOrCreate()
    hopyard.launch(train, nodes=2, lease_seconds=float(sys.argv[3]))
"""


@pytest.fixture
def cable() -> Iterator[None]:
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("a network namespace needs root and the ip command")
    ip("netns", "add", NAMESPACE)
    try:
        ip("link", "add", CABLE, "type", "veth", "peer", "name", PLUG, "netns", NAMESPACE)
        ip("addr", "add", f"{OUTSIDE}/30", "dev", CABLE)
        ip("link", "set", CABLE, "up")
        ip("-n", NAMESPACE, "addr", "add", f"{INSIDE}/30", "dev", PLUG)
        ip("-n", NAMESPACE, "link", "set", PLUG, "up")
        ip("-n", NAMESPACE, "link", "set", "lo", "up")
        yield
    finally:
        ip("netns", "delete", NAMESPACE)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def test_a_node_behind_a_cut_cable_is_lost_after_its_lease_and_ends_itself(
    cable: None, tmp_path: Path
) -> None:
    project = Project.open()
    project.mkdir("")
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(DRIVER))
    with StandaloneSpark(workers=1, host=OUTSIDE) as spark:
        spark.add_worker(INSIDE, prefix=("ip", "netns", "exec", NAMESPACE))
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
        driver = subprocess.Popen(
            [sys.executable, str(script), spark.url, OUTSIDE, str(LEASE_SECONDS)],
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        nodes = [psutil.Process(int(wait_for(project, f"up-{rank}", driver))) for rank in (0, 1)]
        cut = next(node for node in nodes if network_of(node.pid) != network_of(os.getpid()))
        ip("link", "set", CABLE, "down")
        gone = still_running(nodes, LEASE_SECONDS + 8)
        error = driver.communicate(timeout=60)[1]
    assert not gone
    rank = nodes.index(cut)
    assert f"NodeFailed: node {rank} (" in error
    assert "nothing was heard of it for 4 s (lease)" in error
    run = find_run(project, "train")
    outcomes = {outcome.rank: outcome for outcome in run.outcomes()}
    assert run.record().state is RunState.FAILED
    assert outcomes[1 - rank].state is NodeState.KILLED
    assert outcomes[1 - rank].message == f"it was stopped: node {rank} was lost"


def wait_for(project: Project, name: str, driver: subprocess.Popen[str], seconds: float = 90.0) -> bytes:
    for _ in range(int(seconds / 0.1)):
        if project.exists(name):
            return project.read(name)
        try:
            pytest.fail(f"the driver ended with {driver.wait(0.1)}: {driver.communicate()[1]}")
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"{name} is not there after {seconds} s")


def network_of(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")
