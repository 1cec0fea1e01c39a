"""Runs one study of many trials that do nothing; answers how fast each thousand was, and how much memory there was.

For ``{"trials": 10000}`` the answer has ``seconds``, ``ms 1`` to ``ms 10`` for the thousands, and for each kind of
process ``1000 <kind>`` and ``10000 <kind>``: its resident memory in MB when so many trials had ended.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

from benchmarks.feed_answers import answer
from benchmarks.search_ours import SLOTS, nothing
from benchmarks.search_processes import Watch
from pyspark.sql import SparkSession

import hopyard
from hopyard.search.api import random_search
from hopyard.search.space.parameters import Range
from hopyard.search.study.study import Study
from hopyard.tracking import TrialState

PART = 1000
WARM_UP = 200


def search(session: SparkSession, trials: int) -> Study:
    """Runs a study."""
    return random_search(
        nothing, {"x": Range(0.0, 1.0)}, trials=trials, parallel=SLOTS, spark=session, progress=False
    )


def measure(session: SparkSession, *, trials: int) -> dict[str, float]:
    """Returns times and memory of a study."""
    search(session, WARM_UP)
    called = time.time()
    with Watch() as watch:
        study = search(session, trials)
        seconds = time.time() - called
    ends = sorted(trial.ended for trial in study.trials if trial.state is TrialState.FINISHED and trial.ended)
    if len(ends) != trials:
        sys.exit(f"{len(ends)} of {trials} trials ended well")
    marks = range(PART - 1, trials, PART)
    began = min(trial.started for trial in study.trials if trial.started)
    times = [began, *(ends[mark] for mark in marks)]
    figures = {"seconds": seconds}
    for part, (before, after) in enumerate(pairwise(times), 1):
        figures[f"ms {part}"] = (after - before) / PART * 1000
    for count in (PART, trials):
        # just before: at the very end there are no slots any more
        memory = watch.nearest(ends[count - 1] - watch.seconds)
        figures |= {f"{count} {kind}": value for kind, value in memory.items()}
    return figures


if __name__ == "__main__":
    with hopyard.local_spark(executors=SLOTS) as spark:
        answer(lambda question: measure(spark, **question))
