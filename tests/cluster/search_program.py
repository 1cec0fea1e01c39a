"""A driver whose tests kill it: a study of some trials, of which one for each slot waits for a word.

``python search_program.py <processes|local|executors|slots> <folder> <small|large>``. Each execution of a trial leaves a
line in the folder.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import hopyard

NAME = "killed"
TRIALS, WAITING = 8, (3, 4)
MORE_TRIALS, MORE_WAITING = 16, (3, 4, 5, 6)  # where there are four slots
LEASE_SECONDS = 4.0


def trial(number: int, folder: str, waiting: str, ctx: hopyard.NodeContext) -> float:
    """Returns its number; some do so when they are told."""
    with open(f"{folder}/executions", "a") as file:
        file.write(f"{number} {os.getpid()}\n")
    print(f"attempt {ctx.attempt}", flush=True)
    while str(number) in waiting.split() and not Path(folder, f"word-{number}").exists():
        time.sleep(0.02)
    ctx.report(1, metric=number)
    return float(number)


def session(where: str) -> Any:
    """Returns a context in which there are slots: beside the driver, in one JVM, or on executors."""
    if where == "processes":
        return nullcontext()
    if where == "executors":
        return hopyard.local_spark(executors=2, cores=1, memory="512m")
    if where == "slots":
        return hopyard.local_spark(executors=2, cores=2, memory="512m")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    return SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()


def main(where: str, folder: str, size: str) -> None:
    """Runs the study, or goes on with it, and prints what came of it."""
    numbers, waiting = (range(MORE_TRIALS), MORE_WAITING) if size == "large" else (range(TRIALS), WAITING)
    with session(where):
        study = hopyard.grid_search(
            trial,
            {"number": list(numbers), "folder": folder, "waiting": " ".join(map(str, waiting))},
            name=NAME,
            resume="if_exists",
            parallel=len(waiting),
            lease_seconds=LEASE_SECONDS,
            backend="processes" if where == "processes" else "spark",
            progress=False,
        )
    trials = [(each.number, each.state.value, each.value, each.attempt) for each in study.trials]
    print(json.dumps({"run": study.run_id, "trials": trials}))


if __name__ == "__main__":
    main(*sys.argv[1:])
