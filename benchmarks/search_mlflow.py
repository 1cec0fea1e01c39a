"""Runs studies of trials that do nothing, with MLflow's Spark study; answers as `search_ours`."""

from __future__ import annotations

import sys
import time
import uuid
from pathlib import Path

import mlflow
import optuna
from benchmarks.cluster_program import start_spark
from benchmarks.feed_answers import answer
from benchmarks.search_pace import pace
from mlflow.optuna.storage import MlflowStorage
from mlflow.pyspark.optuna.study import MlflowSparkStudy

SLOTS = 2


def nothing(trial: optuna.Trial) -> float:
    """A trial."""
    return trial.suggest_float("x", 0, 1)


def measure(*, trials: int) -> dict[str, float]:
    """Returns how long a trial took; the study has an experiment of its own."""
    called = time.time()
    experiment = mlflow.create_experiment(uuid.uuid4().hex)
    study = MlflowSparkStudy(
        "study", MlflowStorage(experiment_id=experiment), sampler=optuna.samplers.RandomSampler()
    )
    study.optimize(nothing, n_trials=trials, n_jobs=SLOTS)
    seconds = time.time() - called
    runs = mlflow.MlflowClient().search_runs([experiment], max_results=trials + 1)
    ended = [run.info.end_time / 1000 for run in runs if "mlflow.parentRunId" in run.data.tags]
    return pace(seconds, ended, trials)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    with start_spark(folder):
        answer(lambda question: measure(**question))
