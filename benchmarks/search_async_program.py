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
from hopyard.search.space.parameters import Range
from hopyard.tracking import TrialState

MOST_SLOTS = 8
POPULATION = 8
GENERATIONS = 24
EVALUATIONS = POPULATION * (GENERATIONS + 1)
SHORTEST, LONGEST = 0.1, 1.0
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
        {"x": Range(-5.0, 5.0), "y": Range(-5.0, 5.0)},
        population=POPULATION,
        generations=GENERATIONS,
        synchronous=synchronous,
        direction="min",
        parallel=slots,
        seed=seed,
        spark=session,
        progress=False,
    )
    ended = {
        trial.number: trial.ended
        for trial in study.trials
        if trial.state is TrialState.FINISHED and trial.ended is not None
    }
    if len(ended) != EVALUATIONS:
        sys.exit(f"{len(ended)} of {EVALUATIONS} trials ended well")
    ran = {number: (end - duration(number, durations), end) for number, end in ended.items()}
    first, last = min(begin for begin, _ in ran.values()), max(ended.values())
    # between: all slots have their processes, and there are trials for all of them
    since = max(ended[number] for number in range(slots))
    until = max(begin for begin, _ in ran.values())
    return {
        "wall": last - first,
        "busy": sum(_within(each, since, until) for each in ran.values()) / (slots * (until - since)),
        "busy_whole": sum(end - begin for begin, end in ran.values()) / (slots * (last - first)),
        "best": study.best_value,
    }


def _within(span: tuple[float, float], since: float, until: float) -> float:
    return max(0.0, min(span[1], until) - max(span[0], since))


if __name__ == "__main__":
    with hopyard.local_spark(executors=2, cores=MOST_SLOTS // 2) as spark:
        answer(lambda question: measure(spark, **question))
