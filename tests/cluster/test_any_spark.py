"""Groups of nodes on every kind of Spark: threads, several nodes per executor, more CPUs per task, no barrier."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from hopyard.testing.standalone import StandaloneSpark

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

DRIVER = """
    import json, sys
    import hopyard
    from pyspark.sql import SparkSession

    def meet(ctx):
        import os, socket, threading
        if ctx.role == "ps":
            server = socket.socket()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("", int(ctx.cluster["ps"][0].rpartition(":")[2])))
            server.listen()
            while True:
                server.accept()[0].sendall(b"met")
        host, _, port = ctx.cluster["ps"][0].rpartition(":")
        for _ in range(600):
            try:
                with socket.create_connection((host, int(port)), timeout=5) as wire:
                    word = wire.recv(3).decode()
                break
            except ConnectionRefusedError:
                threading.Event().wait(0.05)
        return ctx.rank, ctx.role, word, os.getppid(), json.loads(os.environ["TF_CONFIG"])["task"]

    master, settings, options = json.loads(sys.argv[1])
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    result = hopyard.launch(meet, nodes=3, ps=1, **options)
    print(json.dumps(result.values))
    spark.stop()
"""


def launched(master: str, settings: dict[str, str] | None = None, **options: Any) -> list[Any]:
    """Runs the driver and returns what the chief and the worker returned."""
    orders = json.dumps([master, settings or {}, options])
    driver = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DRIVER), orders],
        capture_output=True,
        text=True,
        timeout=170,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert driver.returncode == 0, driver.stderr[-3000:]
    return json.loads(driver.stdout.splitlines()[-1])


def assert_they_met(values: list[Any]) -> None:
    chief, _, server = values
    assert chief[:3] == [0, "chief", "met"]
    assert chief[4] == {"type": "chief", "index": 0}
    assert server is None  # it was ended when the chief was done


@pytest.fixture(scope="module")
def standalone() -> Iterator[StandaloneSpark]:
    with StandaloneSpark(workers=3) as cluster:
        yield cluster


def test_nodes_share_the_one_executor_of_a_local_master_and_take_two_cpus_each() -> None:
    assert_they_met(launched("local[6]", {"spark.task.cpus": "2"}))


def test_a_standalone_master_with_workers_of_one_core(standalone: StandaloneSpark) -> None:
    assert_they_met(launched(standalone.url, {"spark.executor.memory": "512m"}))


def test_parameter_servers_beside_the_driver_need_no_slot(standalone: StandaloneSpark) -> None:
    settings = {"spark.executor.memory": "512m", "spark.cores.max": "2"}
    assert_they_met(launched(standalone.url, settings, driver_ps_nodes=True))


def test_dynamic_allocation_does_without_barrier(standalone: StandaloneSpark) -> None:
    settings = {
        "spark.executor.memory": "512m",
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.maxExecutors": "3",
    }
    assert_they_met(launched(standalone.url, settings))
