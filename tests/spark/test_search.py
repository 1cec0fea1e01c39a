"""Searches on Spark executors: one job, warm processes, early stopping, distributed trials, GPUs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from optuna.pruners import ThresholdPruner

import hopyard
from hopyard import NodeContext, Project
from hopyard.search.study.study import Study
from hopyard.testing.processes import descendants
from hopyard.testing.watching import wait_until
from hopyard.tracking import RunReader, TrialState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SECONDS = 60
SPACE = {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]}


def train(learning_rate: float, dropout: float, ctx: NodeContext) -> dict[str, float]:
    """The first two trials wait for each other."""
    print(f"learning_rate={learning_rate} dropout={dropout}")
    Path(ctx.logdir, "weights").write_text(f"{dropout}")
    ctx.report(1, accuracy=dropout)
    if learning_rate == 0.001:
        ctx.project.put(f"began/{dropout}", b"")
        wait_until(lambda: len(ctx.project.list("began")) == 2, "two trials run at once", SECONDS)
    return {"accuracy": dropout - learning_rate, "process": os.getpid()}


def jobs(spark: SparkSession) -> int:
    """Returns how many jobs there have been."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def test_a_grid_is_one_job_whose_slots_keep_their_processes(spark: SparkSession) -> None:
    before = jobs(spark)
    study = hopyard.grid_search(train, SPACE, metric="accuracy", progress=False)
    assert jobs(spark) == before + 1
    rows = [(trial.params["learning_rate"], trial.params["dropout"]) for trial in study.trials]
    assert rows == [(rate, dropout) for rate in SPACE["learning_rate"] for dropout in SPACE["dropout"]]
    assert {trial.state for trial in study.trials} == {TrialState.FINISHED}
    assert len({trial.result["process"] for trial in study.trials}) == 2
    assert study.best_params == {"learning_rate": 0.0001, "dropout": 0.7}
    assert not descendants(psutil.Process().pid, "trial_entry")


def test_each_trial_has_its_log_its_metrics_and_its_files(spark: SparkSession) -> None:
    study = hopyard.grid_search(train, SPACE, metric="accuracy", spark=spark, progress=False)
    project = Project.open()
    for trial in study.trials:
        rate, dropout = trial.params["learning_rate"], trial.params["dropout"]
        run = RunReader(project, f"{study.run_id}/learning_rate={rate}.dropout={dropout}")
        assert list(run.log()) == [f"learning_rate={rate} dropout={dropout}"]
        assert [(point.step, point.value) for point in run.metrics("accuracy")] == [(1, dropout)]
        folder = project.relative(study.trial_logdir(trial))
        assert project.read(f"{folder}/weights") == f"{dropout}".encode()
    assert Study.load(project=project).trials == study.trials


def learn(rate: float, ctx: NodeContext) -> float:
    """Gets worse with each step if the rate is high, and goes on until it is told to stop."""
    for step in range(1000):
        ctx.report(step, metric=1.0 - rate * step)
        if rate == 0.0 and step == 5:
            break
        if ctx.should_stop():
            break
    return 1.0 - rate * step


def test_hopeless_trials_end_when_the_driver_says_so(spark: SparkSession) -> None:
    study = hopyard.grid_search(
        learn, {"rate": [0.0, 0.1, 0.3]}, pruner=ThresholdPruner(lower=0.45), spark=spark, progress=False
    )
    states = {trial.params["rate"]: trial.state for trial in study.trials}
    assert states == {0.0: TrialState.FINISHED, 0.1: TrialState.PRUNED, 0.3: TrialState.PRUNED}
    steps = {trial.params["rate"]: max(trial.intermediate_values) for trial in study.optuna_study.trials}
    assert steps == {0.0: 5, 0.1: 6, 0.3: 2}  # not one step too many


def pid(number: int) -> dict[str, float]:
    return {"metric": float(number), "process": os.getpid()}


def test_isolated_trials_share_no_process(spark: SparkSession) -> None:
    study = hopyard.grid_search(pid, {"number": [0, 1, 2]}, isolate=True, spark=spark, progress=False)
    assert len({trial.result["process"] for trial in study.trials}) == 3


DISCOVERY = """\
#!/bin/sh
echo '{"name": "gpu", "addresses": ["2", "3", "5", "7"]}'
"""

FOUR_SLOTS = """
    import json, os, sys, threading, time
    from pathlib import Path
    import hopyard

    def meet(ctx, where, size):
        deadline = time.monotonic() + 60
        while len(ctx.project.list(where)) < size:
            assert time.monotonic() < deadline, f"only {ctx.project.list(where)} came"
            threading.Event().wait(0.05)

    def distributed(number, ctx):
        task = json.loads(os.environ["TF_CONFIG"])["task"]
        ctx.project.put(f"met/{number // 2}/{number}.{ctx.rank}", json.dumps(task).encode())
        meet(ctx, f"met/{number // 2}", 4)  # both nodes of two trials
        print(f"trial {number} node {ctx.rank} of {ctx.size}")
        if number == 2 and ctx.rank == 1:
            raise ArithmeticError("this node has no weights")
        if number == 2:
            threading.Event().wait()
        return {"metric": number + 0.5 if ctx.rank == 0 else -1, "nodes": ctx.size}

    def with_gpu(number, ctx):
        ctx.project.put(f"gpus/{number}", b"")
        meet(ctx, "gpus", 2)
        print("GPU", os.environ["CUDA_VISIBLE_DEVICES"])
        return {"metric": number, "gpu": os.environ["CUDA_VISIBLE_DEVICES"]}

    def told(study):
        return [
            [trial.number, trial.state.value, trial.value, dict(trial.result), trial.error, study.trial_logdir(trial)]
            for trial in study.trials
        ]

    session = dict(executors=4, cores=1, memory="512m", gpus=1, gpu_discovery_script=Path(sys.argv[1]))
    with hopyard.local_spark(**session) as spark:
        one = {"number": [0, 1, 2, 3]}
        clusters = hopyard.grid_search(distributed, one, nodes_per_trial=2, progress=False)
        gpus = hopyard.grid_search(with_gpu, {"number": [0, 1]}, gpus_per_trial=1, parallel=2, progress=False)
        print(json.dumps([told(clusters), told(gpus)]))
"""


@pytest.fixture(scope="module")
def four_slots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[Any], list[Any]]:
    """What two studies say that ran on four executors with a GPU each."""
    root = tmp_path_factory.mktemp("four")
    script = root / "gpus.sh"
    script.write_text(DISCOVERY)
    script.chmod(0o755)
    environ = {
        **os.environ,
        "HOPYARD_ROOT": str(root),
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1",  # the JVMs are short-lived
    }
    command = [sys.executable, "-c", textwrap.dedent(FOUR_SLOTS), str(script)]
    driver = subprocess.run(command, capture_output=True, text=True, timeout=170, env=environ)
    assert driver.returncode == 0, driver.stderr[-3000:]
    clusters, gpus = json.loads(driver.stdout.splitlines()[-1])
    return Project.open(str(root)), clusters, gpus


def test_two_distributed_trials_run_at_a_time(four_slots: tuple[Project, list[Any], list[Any]]) -> None:
    project, clusters, _ = four_slots
    ended_well = [trial for trial in clusters if trial[0] != 2]
    assert [(state, value, result) for _, state, value, result, _, _ in ended_well] == [
        ("FINISHED", number + 0.5, {"nodes": 2}) for number in (0, 1, 3)
    ]
    tasks = [json.loads(project.read(entry.path)) for entry in project.list("met/0")]
    assert tasks == [{"type": "chief", "index": 0}, {"type": "worker", "index": 0}] * 2


def test_a_node_that_fails_ends_its_trial_and_no_other(
    four_slots: tuple[Project, list[Any], list[Any]],
) -> None:
    project, clusters, _ = four_slots
    _, state, value, _, error, logdir = clusters[2]
    assert (state, value) == ("FAILED", None)
    assert "this node has no weights" in error
    run = RunReader(project, project.relative(logdir).split("TensorFlow/")[1])
    assert "trial 2 node 1 of 2" in list(run.log(1))


def test_trials_at_the_same_time_see_different_gpus(
    four_slots: tuple[Project, list[Any], list[Any]],
) -> None:
    _, _, gpus = four_slots
    assert [state for _, state, *_ in gpus] == ["FINISHED", "FINISHED"]
    seen = [result["gpu"] for _, _, _, result, _, _ in gpus]
    assert len(set(seen)) == 2
    assert set(seen) < {"2", "3", "5", "7"}
