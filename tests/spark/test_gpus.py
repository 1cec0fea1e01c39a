"""The GPUs that a node's own process sees: those of its Spark task, or those leased on its host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

DISCOVERY = """\
#!/bin/sh
echo '{"name": "gpu", "addresses": ["3", "5"]}'
"""

NVIDIA_SMI = """\
#!/bin/sh
echo '0, GPU-aaaaaaaa-0000-0000-0000-000000000000, 16384'
echo '1, GPU-bbbbbbbb-0000-0000-0000-000000000000, 16384'
"""

LOOK = """
    import json, os, sys, threading, time
    from pathlib import Path
    import hopyard
    from hopyard.testing.detaching import DetachingBackend

    def look(ctx):
        from hops import devices
        names = ("CUDA_VISIBLE_DEVICES", "HOPYARD_GPU_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION")
        seen = [ctx.role, devices.get_num_gpus(), *(os.environ.get(name) for name in names)]
        ctx.project.put(f"{ctx.run_id}/{ctx.rank}", json.dumps(seen).encode())
        deadline = time.monotonic() + 60  # all look at the same time, as leases end with their nodes
        while len(ctx.project.list(ctx.run_id)) < ctx.size and time.monotonic() < deadline:
            threading.Event().wait(0.05)

    def seen(**options):
        run = hopyard.launch(look, **options).run_id
        project = hopyard.Project.open()
        return [json.loads(project.read(entry.path)) for entry in project.list(run)]
"""

SCHEDULED = f"""{LOOK}
    session = dict(executors=2, cores=2, memory="512m", gpus=1, gpu_discovery_script=Path(sys.argv[1]))
    with hopyard.local_spark(**session) as spark:
        print(json.dumps([
            seen(nodes=2),
            seen(nodes=4, ps=1, evaluator=True, gpus_per_node=1),
            seen(nodes=3, gpu_fraction=0.5),
            seen(nodes=1, gpus_per_node=0),
            seen(nodes=2, backend=DetachingBackend(spark.sparkContext)),
        ]))
"""

LEASED = f"""{LOOK}
    from pyspark.sql import SparkSession
    SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false").getOrCreate()
    print(json.dumps([
        seen(nodes=3, ps=1, gpus_per_node=1),
        seen(nodes=4, gpu_fraction=0.5),
    ]))
"""


def said_by(program: str, *arguments: str, path: str = "") -> list[Any]:
    environ = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PYSPARK_PYTHON": sys.executable}
    environ.pop("CUDA_VISIBLE_DEVICES", None)  # which other tests of this process may have left
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    driver = subprocess.run(command, capture_output=True, text=True, timeout=170, env=environ)
    assert driver.returncode == 0, driver.stderr[-3000:]
    return json.loads(driver.stdout.splitlines()[-1])


def write_program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_each_node_sees_the_gpus_of_its_own_task(tmp_path: Path) -> None:
    script = write_program(tmp_path / "gpus.sh", DISCOVERY)
    session_says, with_servers, shared, none, detached = said_by(SCHEDULED, str(script))
    assert sorted(gpus for _, _, gpus, _, _ in session_says) == ["3", "5"]
    assert sorted(gpus for _, _, gpus, _, _ in detached) == ["3", "5"]
    roles = {role: (count, gpus) for role, count, gpus, _, _ in with_servers}
    assert {roles["chief"], roles["worker"]} == {(1, "3"), (1, "5")}
    assert roles["ps"] == roles["evaluator"] == (0, "")
    assert sorted(gpus for _, _, gpus, _, _ in shared) in (["3", "3", "5"], ["3", "5", "5"])
    assert {(fraction, jax) for _, _, _, fraction, jax in shared} == {("0.5", "0.5")}
    assert none == [["chief", 0, "", None, None]]


def test_where_spark_schedules_no_gpus_nodes_lease_those_of_their_host(tmp_path: Path) -> None:
    write_program(tmp_path / "nvidia-smi", NVIDIA_SMI)
    exclusive, shared = said_by(LEASED, path=str(tmp_path))
    roles = {role: (count, gpus) for role, count, gpus, _, _ in exclusive}
    assert {roles["chief"], roles["worker"]} == {(1, "0"), (1, "1")}
    assert roles["ps"] == (0, "")
    assert sorted(gpus for _, _, gpus, _, _ in shared) == ["0", "0", "1", "1"]
