"""Runs studies of trials that do nothing, with Hyperopt's SparkTrials; answers as `search_ours`."""

from __future__ import annotations

import datetime
import sys
import time
from pathlib import Path

import hyperopt
import numpy as np
from benchmarks.cluster_program import start_spark
from benchmarks.feed_answers import answer
from benchmarks.search_pace import pace
from pyspark.sql import SparkSession

SLOTS = 2


def nothing(x: float) -> float:
    """A trial."""
    return x


def measure(session: SparkSession, *, trials: int) -> dict[str, float]:
    """Returns how long a trial took."""
    called = time.time()
    spark_trials = hyperopt.SparkTrials(parallelism=SLOTS, spark_session=session)
    hyperopt.fmin(
        nothing,
        hyperopt.hp.uniform("x", 0, 1),
        algo=hyperopt.rand.suggest,
        max_evals=trials,
        max_queue_len=SLOTS,  # with 1, the default, it takes one trial each time that it looks, and is slower
        trials=spark_trials,
        rstate=np.random.default_rng(0),
        verbose=False,
        show_progressbar=False,
    )
    seconds = time.time() - called
    ended = [trial["refresh_time"] for trial in spark_trials.trials if trial["result"]["status"] == "ok"]
    return pace(seconds, [moment.replace(tzinfo=datetime.UTC).timestamp() for moment in ended], trials)


if __name__ == "__main__":
    with start_spark(Path(sys.argv[1])) as spark:
        answer(lambda question: measure(spark, **question))
