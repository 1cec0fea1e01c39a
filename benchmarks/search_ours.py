"""Runs studies of trials that do nothing, with Hopyard; for each ``{"trials": 1000}`` it answers how fast."""

from __future__ import annotations

import time

from benchmarks.feed_answers import answer
from benchmarks.search_pace import pace
from pyspark.sql import SparkSession

import hopyard
from hopyard.search.api import random_search
from hopyard.search.space.parameters import Range
from hopyard.tracking import TrialState

SLOTS = 2


def nothing(x: float) -> float:
    """A trial."""
    return x


def measure(session: SparkSession, *, trials: int) -> dict[str, float]:
    """Returns how long a trial took; the study is kept in the project on this machine's disk."""
    called = time.time()
    study = random_search(
        nothing, {"x": Range(0.0, 1.0)}, trials=trials, parallel=SLOTS, spark=session, progress=False
    )
    seconds = time.time() - called
    ends = [trial.ended for trial in study.trials if trial.state is TrialState.FINISHED and trial.ended]
    return pace(seconds, ends, trials)


if __name__ == "__main__":
    with hopyard.local_spark(executors=SLOTS) as spark:
        answer(lambda question: measure(spark, **question))
