from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from hopyard.errors import SessionConflict
from hopyard.spark.session import SessionSettings, active_spark, local_spark
from hopyard.testing.processes import command_line, still_running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HOLDER = """
from hopyard.spark.session import local_spark
spark = local_spark(executors=1, memory="512m")
spark.sparkContext.parallelize([1], 1).map(abs).collect()
print(spark.sparkContext.getConf().get("spark.hopyard.folder"), flush=True)
input()
"""
# A session of its own for a program: the fixture's session fills this process.
GPU_PROGRAM = """
import json, sys
from pyspark import BarrierTaskContext
from hopyard.spark.session import local_spark

def addresses(_):
    task = BarrierTaskContext.get()
    task.barrier()  # both run at once, so each has an executor of its own
    return [task.resources()["gpu"].addresses]

with local_spark(executors=2, memory="512m", gpus=2, gpu_discovery_script=sys.argv[1]) as spark:
    print(json.dumps(spark.sparkContext.parallelize([0, 1], 2).barrier().mapPartitions(addresses).collect()))
"""
HOPELESS_PROGRAM = """
from hopyard.errors import SparkNotStarted
from hopyard.spark.session import local_spark

try:
    local_spark(executors=1, memory="512m", conf={"spark.executor.extraJavaOptions": "-Xms1g"})
except SparkNotStarted as error:
    print(error)
"""
LIFE_PROGRAM = """
import json, os, pathlib, sys, traceback, urllib.request
before = dict(os.environ)
from hopyard.spark.session import active_spark, local_spark
from hopyard import launch
from hopyard.errors import SparkNotStarted, SparkUnusable

with local_spark(executors=1, memory="512m") as spark:
    first = pathlib.Path(spark.sparkContext.getConf().get("spark.hopyard.folder"))
    spark.range(3).write.saveAsTable("numbers")
    leaked = [name for name in os.environ if os.environ[name] != before.get(name)]
active_between = active_spark() is not None
try:
    launch(abs, (-1,), spark=spark)
    stopped = None
except SparkUnusable as error:
    stopped = str(error)
spark = local_spark(executors=1, cores=2, memory="600m", ui=True)
count = spark.range(4).count()
with urllib.request.urlopen(spark.sparkContext.uiWebUrl) as page:
    ui = [spark.sparkContext.uiWebUrl, page.status]
second = pathlib.Path(spark.sparkContext.getConf().get("spark.hopyard.folder"))
spark.sparkContext.stop()
try:
    local_spark(executors=1, conf={"spark.driver.memory": "nonsense"})
    refused = None
except SparkNotStarted:
    refused = traceback.format_exc()
print(json.dumps({
    "count": count,
    "ui": ui,
    "active between": active_between,
    "folders left": [str(f) for f in (first, second) if f.exists()],
    "leaked": leaked,
    "refused": refused,
    "stopped": stopped,
}))
"""


def folder_of(spark: SparkSession) -> Path:
    return Path(str(spark.sparkContext.getConf().get("spark.hopyard.folder")))


def java_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process(os.getpid()).children(recursive=True) if child.name() == "java"]


def python_of_worker(_: int) -> str:
    return sys.executable


def run(program: str, *arguments: str, cwd: Path) -> str:
    temporary = cwd.parent / f"{cwd.name}-tmp"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [path.name for path in temporary.rglob("*") if path.is_file()] == [".lock"]
    return done.stdout


def test_executors_are_processes_of_their_own_with_this_python(spark: SparkSession) -> None:
    commands = [command_line(process) for process in java_processes()]
    assert sum("CoarseGrainedExecutorBackend" in command for command in commands) == 2
    assert spark.sparkContext.parallelize([0], 1).map(python_of_worker).collect() == [sys.executable]


def test_all_executors_are_there_when_the_session_is_returned(spark: SparkSession) -> None:
    assert spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 3


def test_settings_are_read_from_the_session(spark: SparkSession) -> None:
    assert SessionSettings.from_spark(spark) == SessionSettings(max_parallel=2, executor_memory_mb=512)


def test_all_ports_are_on_loopback(spark: SparkSession) -> None:
    ports = [
        connection.laddr.ip.removeprefix("::ffff:")
        for process in java_processes()
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert ports
    assert set(ports) == {"127.0.0.1"}
    assert spark.sparkContext.uiWebUrl is None


def test_work_of_the_executors_is_in_the_folder_of_the_session(spark: SparkSession) -> None:
    assert list((folder_of(spark) / "home" / "work").glob("app-*/*/stderr"))


def test_an_equal_session_is_returned_again(spark: SparkSession, spark_arguments: dict[str, Any]) -> None:
    assert local_spark(**spark_arguments) is spark


def test_another_session_is_refused_with_what_runs_and_how_to_stop_it(spark: SparkSession) -> None:
    with pytest.raises(
        SessionConflict, match=r"'hopyard-tests' on local-cluster\[2,1,512\]; call \.stop\(\)"
    ):
        local_spark(executors=1)


def test_the_active_session_is_found_from_any_thread(spark: SparkSession) -> None:
    found: list[SparkSession | None] = [active_spark()]
    thread = threading.Thread(target=lambda: found.append(active_spark()))
    thread.start()
    thread.join()
    assert found == [spark, spark]


@pytest.mark.timeout(400)  # two starts, one after the other
def test_sessions_follow_each_other_and_leave_nothing(tmp_path: Path) -> None:
    told = json.loads(run(LIFE_PROGRAM, cwd=tmp_path))
    assert told["count"] == 4
    assert told["ui"][0].startswith("http://127.0.0.1:")
    assert told["ui"][1] == 200
    assert told["active between"] is False
    assert told["folders left"] == []
    assert set(told["leaked"]) <= {"SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"}  # pyspark's own
    assert told["stopped"] == "Hopyard cannot use this Spark: its session was stopped. Start another one."
    assert "nonsense" in told["refused"]
    assert "str() failed" not in told["refused"]
    assert list(tmp_path.iterdir()) == []


def test_executors_that_cannot_start_are_told_with_their_own_words(tmp_path: Path) -> None:
    assert "Initial heap size set to a larger value than the maximum heap size" in run(
        HOPELESS_PROGRAM, cwd=tmp_path
    )


def test_gpus_of_a_task_belong_to_its_executor_alone(tmp_path: Path) -> None:
    script = tmp_path / "discover"
    script.write_text("""#!/bin/sh\necho '{"name": "gpu", "addresses": ["a", "b", "c", "d"]}'\n""")
    script.chmod(0o755)
    first, second = json.loads(run(GPU_PROGRAM, str(script), cwd=tmp_path))
    assert sorted([sorted(first), sorted(second)]) == [["a", "b"], ["c", "d"]]


def test_killing_python_leaves_neither_processes_nor_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as driver:
        assert driver.stdout is not None
        folder = Path(driver.stdout.readline().decode().strip())
        processes = psutil.Process(driver.pid).children(recursive=True)
        names = [process.name() for process in processes]
        assert names.count("java") == 2
        assert any(name.startswith("python") for name in names)
        os.kill(driver.pid, signal.SIGKILL)
        alive = still_running(processes, 15)
    assert alive == []
    deadline = time.monotonic() + 5
    while folder.exists():
        assert time.monotonic() < deadline, f"{folder} is still there"
        time.sleep(0.05)
