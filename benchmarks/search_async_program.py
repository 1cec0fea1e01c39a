"""Evolves a function whose trials take unevenly long; answers how busy the slots were and how long it took.

For each ``{"slots": 2, "synchronous": false, "durations": "spread", "seed": 1}`` it runs one study. How long a trial
sleeps goes by its number, so that both ways have the same work to do.
"""

from __future__ import annotations

import random
import sys
import time

from benchmarks.feed_answers import answer
from pyspark.sql import SparkSession

import hopyard
from hopyard.search.api import differential_evolution
from hopyard.tracking import TrialState

MOST_SLOTS = 10
POPULATION = 10
GENERATIONS = 20
EVALUATIONS = POPULATION * (GENERATIONS + 1)
SHORTEST, LONGEST = 0.03, 0.3
RARE = 0.2
SPREAD, MIXED = "spread", "mixed"


def duration(number: int, durations: str) -> float:
    """Returns how long a trial takes: anything between two limits, or mostly the one and now and then the other."""
    chance = random.Random(number).random()
    if durations == MIXED:
        return LONGEST if chance < RARE else SHORTEST
    return SHORTEST + chance * (LONGEST - SHORTEST)


def spread_trial(x: float, y: float, ctx: hopyard.NodeContext) -> float:
    """A trial that takes anything between two limits."""
    time.sleep(duration(ctx.info.trial, SPREAD))
    return x * x + y * y


def mixed_trial(x: float, y: float, ctx: hopyard.NodeContext) -> float:
    """A trial that mostly is short and now and then long."""
    time.sleep(duration(ctx.info.trial, MIXED))
    return x * x + y * y


TRIALS = {SPREAD: spread_trial, MIXED: mixed_trial}


def measure(
    session: SparkSession, *, slots: int, synchronous: bool, durations: str, seed: int
) -> dict[str, float]:
    """Returns seconds from the first start to the last end, and the shares of them that slots were busy."""
    study = differential_evolution(
        TRIALS[durations],
        {"x": [-5.0, 5.0], "y": [-5.0, 5.0]},
        population=POPULATION,
        generations=GENERATIONS,
        synchronous=synchronous,
        direction="min",
        parallel=slots,
        seed=seed,
        spark=session,
        progress=False,
    )
    lives = [
        (trial.started, trial.ended)
        for trial in study.trials
        if trial.state is TrialState.FINISHED and trial.started and trial.ended
    ]
    if len(lives) != EVALUATIONS:
        sys.exit(f"{len(lives)} of {EVALUATIONS} trials ended well")
    wall = max(ended for _, ended in lives) - min(started for started, _ in lives)
    asleep = sum(duration(number, durations) for number in range(EVALUATIONS))
    given = sum(ended - started for started, ended in lives)
    return {
        "wall": wall,
        "busy": asleep / (slots * wall),
        "given": given / (slots * wall),
        "best": study.best_value,
    }


if __name__ == "__main__":
    with hopyard.local_spark(executors=2, cores=MOST_SLOTS // 2) as spark:
        answer(lambda question: measure(spark, **question))
