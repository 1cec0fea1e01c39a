"""The preflight and the profiles on Sparks of every kind that one machine can have.

A process has one Spark at a time, so each of these has a driver process of its own, which prints what it
found as lines of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from hopyard.testing.standalone import StandaloneSpark

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PRELUDE = """
    import json, os, sys, tempfile, time
    from pyspark import BarrierTaskContext, InheritableThread, SparkConf, SparkContext, TaskContext
    from hopyard import local_spark
    from hopyard.spark.preflight.capacity import arrived, settings_of, slots
    from hopyard.spark.preflight.room import Demand, Room, uses_barrier
    from hopyard.spark.preflight.profiles import profile_for
    from hopyard.errors import NotEnoughSlots

    QUICK = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}

    def tell(**found):
        print(json.dumps(found), flush=True)

    def flight(context, *demands, seconds=60):
        started = time.monotonic()
        try:
            kinds = [Demand(nodes=nodes, gpus=gpus) for nodes, gpus in demands]
            Room.of(context, kinds, seconds=seconds).wait()
            refused = None
        except NotEnoughSlots as error:
            refused = str(error)
        return {"refused": refused, "seconds": time.monotonic() - started}

    def counts(context, *amounts):
        # ours beside those of Spark itself
        java, settings, found = context._jsc.sc(), settings_of(context), []
        manager = java.resourceProfileManager()
        for gpus in amounts:
            profile = profile_for(context, gpus)
            java_profile = profile._java_resource_profile if profile else manager.defaultResourceProfile()
            manager.addResourceProfile(java_profile)
            ours = slots(arrived(context), settings.task_cpus, settings.gpus_of_task(gpus))
            found.append((ours, java.maxNumConcurrentTasks(java_profile)))
        return found

    def gpus_of_task(rows):
        context = TaskContext.get()
        return [list(context.resources()["gpu"].addresses) if "gpu" in context.resources() else None]

    def meet(rows):
        BarrierTaskContext.get().barrier()
        return gpus_of_task(rows)

    def meet_others(folder, number):
        # holds a slot until so many tasks have come, of whatever stage
        def meet_them(rows):
            tempfile.mkstemp(dir=folder)
            deadline = time.monotonic() + 60
            while len(os.listdir(folder)) < number and time.monotonic() < deadline:
                time.sleep(0.05)
            return [(len(os.listdir(folder)), *gpus_of_task(rows))]
        return meet_them

    def stage(context, tasks, gpus):
        rows, profile = context.parallelize(range(tasks), tasks), profile_for(context, gpus)
        return rows if profile is None else rows.withResources(profile)
"""


def told_by(folder: Path, program: str, *arguments: str) -> list[dict[str, Any]]:
    """Runs a driver program and returns what it told."""
    script = folder / "driver.py"
    script.write_text(textwrap.dedent(PRELUDE) + textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def gpu_script(tmp_path: Path) -> Path:
    """A discovery script that finds two pretended GPUs."""
    script = tmp_path / "gpus.sh"
    script.write_text('#!/bin/sh\necho \'{"name": "gpu", "addresses": ["0", "1"]}\'\n')
    script.chmod(0o700)
    return script


def test_threads_of_a_local_master_are_slots_and_take_barrier_stages(tmp_path: Path) -> None:
    program = """
        # Spark itself ignores this setting on a local master
        conf = {"spark.ui.enabled": "false", "spark.dynamicAllocation.enabled": "true"}
        context = SparkContext(conf=SparkConf().setMaster("local[2]").setAppName("x").setAll(conf.items()))
        tell(two=flight(context, (2, 1)), three=flight(context, (3, None)), counts=counts(context, None))
        tell(barrier=uses_barrier(context), met=stage(context, 2, 1).barrier().mapPartitions(meet).collect())
    """
    first, second = told_by(tmp_path, program)
    assert first["two"]["refused"] is None
    assert "needs 3 slots, this Spark has 2 (master local[2]" in first["three"]["refused"]
    assert first["counts"] == [[2, 2]]
    assert second == {"barrier": True, "met": [None, None]}


def test_tasks_that_take_two_cores_halve_the_slots_of_an_embedded_cluster(tmp_path: Path) -> None:
    program = """
        with local_spark(executors=1, cores=3, memory="512m", conf={**QUICK, "spark.task.cpus": "2"}) as spark:
            context = spark.sparkContext
            tell(one=flight(context, (1, None)), two=flight(context, (2, None)), counts=counts(context, None))
    """
    (found,) = told_by(tmp_path, program)
    assert found["one"]["refused"] is None
    assert (
        "needs 2 slots, this Spark has 1 (1 executor x 3 cores, spark.task.cpus=2)" in found["two"]["refused"]
    )
    assert found["counts"] == [[1, 1]]


def test_nodes_with_a_gpu_a_share_and_none_run_on_the_same_executors(
    tmp_path: Path, gpu_script: Path
) -> None:
    program = """
        gpus = {"gpus": 1, "gpu_discovery_script": sys.argv[1]}
        with local_spark(executors=2, cores=2, memory="512m", conf=QUICK, **gpus) as spark:
            context = spark.sparkContext
            tell(
                counts=counts(context, None, 0, 0.1, 0.5, 0.6, 1),
                default=[profile_for(context, None) is None, profile_for(context, 1) is None],
                again=profile_for(context, 0.5).id == profile_for(context, 0.5).id,
                fits=flight(context, (2, 1), (2, 0)),
                too_many=flight(context, (2, 1), (3, 0)),
                too_many_gpus=flight(context, (3, 1), (1, 0)),
                too_large=flight(context, (1, 2)),
            )
            tell(shares=stage(context, 4, 0.5).barrier().mapPartitions(meet).collect())
            found, folder = {}, tempfile.mkdtemp(dir=".")
            task = meet_others(os.path.abspath(folder), 4)

            def run(tasks, gpus):
                found[gpus] = stage(context, tasks, gpus).barrier().mapPartitions(task).collect()

            jobs = [InheritableThread(target=run, args=kind, session=None) for kind in [(2, 1), (2, 0)]]
            for job in jobs:
                job.start()
            for job in jobs:
                job.join()
            tell(with_gpu=found[1], without=found[0])
    """
    plans, shares, mixed = told_by(tmp_path, program, str(gpu_script))
    assert plans["counts"] == [[2, 2], [4, 4], [4, 4], [4, 4], [2, 2], [2, 2]]
    assert plans["default"] == [True, True]
    assert plans["again"]
    assert plans["fits"]["refused"] is None
    assert (
        "needs 5 slots (2 with 1 GPU), this Spark has 4 (2 executors x 2 cores and 1 GPU"
        in (plans["too_many"]["refused"])
    )
    assert "needs 3 slots with 1 GPU each, this Spark has 2" in plans["too_many_gpus"]["refused"]
    assert "needs 1 slot with 2 GPUs, this Spark has 0" in plans["too_large"]["refused"]
    assert sorted(shares["shares"]) == [["0"], ["0"], ["1"], ["1"]]
    assert sorted(mixed["with_gpu"]) == [[4, ["0"]], [4, ["1"]]]
    assert mixed["without"] == [[4, None], [4, None]]


def test_dynamic_allocation_starts_executors_for_each_kind_of_node(tmp_path: Path, gpu_script: Path) -> None:
    program = """
        dynamic = {
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.maxExecutors": "2",
            "spark.dynamicAllocation.executorIdleTimeout": "1s",
            "spark.executor.cores": "1",
        }
        gpus = {"gpus": 1, "gpu_discovery_script": sys.argv[1]}
        with local_spark(executors=2, memory="512m", conf={**QUICK, **dynamic}, **gpus) as spark:
            context = spark.sparkContext
            tell(
                barrier=uses_barrier(context),
                fits=flight(context, (2, 0.5)),
                kinds=flight(context, (2, 0.5), (2, 0)),
                too_many=flight(context, (3, 0.5)),
            )
            tell(
                shares=stage(context, 2, 0.5).mapPartitions(gpus_of_task).collect(),
                memory=profile_for(context, 0.5).executorResources["memory"].amount,
                none=stage(context, 1, 0).mapPartitions(gpus_of_task).collect(),
                rounded=profile_for(context, 0.8) is None,
            )
            try:
                stage(context, 1, None).barrier().mapPartitions(meet).collect()
            except Exception as error:
                tell(refusal=str(error))
    """
    plans, stages, barrier = told_by(tmp_path, program, str(gpu_script))
    assert plans["barrier"] is False
    assert plans["fits"]["refused"] is None
    assert plans["kinds"]["refused"] is None
    assert "raise spark.dynamicAllocation.maxExecutors (now 2)" in plans["too_many"]["refused"]
    assert {address for addresses in stages["shares"] for address in addresses} <= {"0", "1"}
    assert stages["memory"] == 512
    assert stages["none"] == [None]
    assert stages["rounded"]
    assert "Barrier execution mode does not support dynamic resource allocation" in barrier["refusal"]


NONE_YET = "waiting for executors: 0 of 1 slots are there (no executors)"
ONE_YET = "waiting for executors: 1 of 2 slots are there (1 executor x 1 core)"
LATE = """
    import time
    import hopyard
    from hopyard.errors import NotEnoughSlots
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    conf = {
        "spark.ui.enabled": "false", "spark.executor.memory": "512m", "spark.cores.max": "4",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    builder = SparkSession.builder.master(sys.argv[1])
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()

    def count(ctx):
        feed, rows = ctx.feed(), 0
        while len(batch := feed.next_batch(100)):
            rows += len(batch)
        return rows

    def refusal(**options):
        started = time.monotonic()
        try:
            hopyard.launch(time.time, **options)
        except NotEnoughSlots as error:
            return {"refused": str(error), "seconds": time.monotonic() - started}

    study = hopyard.search(lambda x: x, {"x": hopyard.Range(0.0, 1.0)}, trials=2)
    tell(trials=[trial.state.name for trial in study.trials])
    with hopyard.Cluster(count, nodes=2, feed=True, start_timeout=120) as cluster:
        cluster.train(spark.range(1000))
        result = cluster.wait()
    tell(rows=sum(result.values))
    tell(three=refusal(nodes=3, start_timeout=2), five=refusal(nodes=5))
    spark.stop()
"""


def test_executors_that_come_late_are_waited_for_as_long_as_the_caller_allows(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(PRELUDE) + textwrap.dedent(LATE))
    environ = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    workers: list[object] = []
    with (
        StandaloneSpark(workers=0) as cluster,
        (tmp_path / "told").open("w+") as told,
        subprocess.Popen(
            [sys.executable, str(script), cluster.url],
            cwd=tmp_path,
            env=environ,
            stdout=told,
            stderr=subprocess.PIPE,
            text=True,
        ) as driver,
    ):
        assert driver.stderr is not None
        said: list[str] = []
        try:
            for line in driver.stderr:
                said.append(line)
                # of the first it is told twice: then it is later than the 8 s of old
                is_late = sum(NONE_YET in each for each in said) == 2 if not workers else ONE_YET in line
                if is_late and len(workers) < 2:
                    workers.append(cluster.add_worker("127.0.0.1"))
        finally:
            driver.kill()
        told.seek(0)
        found = [json.loads(line) for line in told]
    assert len(found) == 3, "".join(said)
    study, fed, refusals = found
    assert study["trials"] == ["FINISHED", "FINISHED"]
    assert fed["rows"] == 1000
    three, five = refusals["three"], refusals["five"]
    assert "needs 3 slots, this Spark has 2 (2 executors x 1 core came within 2 s" in three["refused"]
    assert "spark.cores.max" not in three["refused"]
    assert 2 <= three["seconds"] < 8
    assert "needs 5 slots, this Spark has 4 (spark.cores.max=4" in five["refused"]
    assert five["seconds"] < 2


STOPS = """
    import signal, threading
    import hopyard
    from hopyard.errors import RunStopped
    from pyspark.sql import SparkSession

    conf = {
        "spark.ui.enabled": "false", "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    builder = SparkSession.builder.master(sys.argv[1])
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()

    def hold():
        time.sleep(600)

    def seconds_until(error, call):
        began = time.monotonic()
        try:
            call()
        except error:
            return time.monotonic() - began

    def interrupted(call):
        threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return seconds_until(KeyboardInterrupt, call) - 2

    cluster = hopyard.Cluster(hold, max_restarts=1).start()
    cluster.ready()
    tell(ready=True)  # its worker is killed now
    deadline = time.monotonic() + 60
    while cluster.attempt == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    attempt, began = cluster.attempt, time.monotonic()
    cluster.stop("enough")
    stopped = time.monotonic() - began
    seconds_until(RunStopped, cluster.wait)
    record = hopyard.load_run(cluster.run_id).record
    tell(attempt=attempt, seconds=stopped, state=record.state.name, error=record.error)
    tell(
        launch=interrupted(lambda: hopyard.launch(hold)),
        search=interrupted(lambda: hopyard.search(lambda x: x, {"x": hopyard.Range(0.0, 1.0)}, trials=2)),
    )
    spark.stop()
"""


def test_a_stop_and_ctrl_c_are_heard_while_executors_are_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(PRELUDE) + textwrap.dedent(STOPS))
    environ = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with (
        StandaloneSpark(workers=0) as cluster,
        subprocess.Popen(
            [sys.executable, str(script), cluster.url],
            cwd=tmp_path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=(tmp_path / "said").open("w"),
            text=True,
        ) as driver,
    ):
        assert driver.stdout is not None
        worker = cluster.add_worker("127.0.0.1")
        try:
            found = []
            for line in driver.stdout:
                found.append(json.loads(line))
                worker.kill()
        finally:
            driver.kill()
    assert len(found) == 3, (tmp_path / "said").read_text()
    _, stopped, interrupted = found
    assert (stopped["attempt"], stopped["state"], stopped["error"]) == (1, "KILLED", "enough")
    assert stopped["seconds"] < 10
    assert interrupted["launch"] < 10
    assert interrupted["search"] < 10
