"""What a trial costs that does nothing: ours, other libraries, and bare Spark jobs.

Each side is a program that stays up, with a Spark or Ray of its own, and they take turns.
``python -m benchmarks.search ours ray`` measures some sides alone.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import search_peers
from benchmarks.cluster import own_python
from benchmarks.feed_side import Side
from benchmarks.report import Table

TIMES = 3
FIRST_TRIALS = 2
OURS = "ours"

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A side: what runs it, and how many trials a study of it has, for it to take some seconds."""

    title: str
    module: str
    python: Callable[[], Path]
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a side.

    Attributes:
        first: The first call of its session.
        studies: Those that count.
    """

    contestant: Contestant
    first: Figures
    studies: list[Figures] = field(default_factory=list)

    def median(self, name: str) -> float:
        return statistics.median(each[name] for each in self.studies)

    def text(self, name: str) -> str:
        figures = [each[name] for each in self.studies]
        return f"{_figure(self.median(name))} ({_figure(min(figures))} to {_figure(max(figures))})"


def _peer(title: str, module: str, peer: search_peers.Peer, trials: int) -> Contestant:
    return Contestant(title=f"{title} {peer.version}", module=module, python=peer.python, trials=trials)


CONTESTANTS = {
    OURS: Contestant(title="Hopyard", module="benchmarks.search_ours", python=own_python, trials=1000),
    "jobs": Contestant(
        title="a bare Spark job per trial, from 2 threads",
        module="benchmarks.search_jobs",
        python=own_python,
        trials=150,
    ),
    "ray": _peer("Ray Tune, reuse_actors=True,", "benchmarks.search_ray", search_peers.RAY, 300),
    "mlflow": _peer(
        "MlflowSparkStudy on SQLite, MLflow", "benchmarks.search_mlflow", search_peers.MLFLOW, 40
    ),
    "hyperopt": _peer("SparkTrials, Hyperopt", "benchmarks.search_hyperopt", search_peers.HYPEROPT, 12),
}


def run() -> Table:
    """Measures all sides."""
    return measure(tuple(CONTESTANTS))


def measure(names: Sequence[str]) -> Table:
    """Measures some sides by turns."""
    load = os.getloadavg()[0]
    with contextlib.ExitStack() as resources:
        sides, results = {}, {}
        # one after the other, so that no first call competes with the start of another side
        for name in names:
            contestant = CONTESTANTS[name]
            side = sides[name] = enter(resources, contestant)
            results[name] = Result(contestant=contestant, first=side.measure({"trials": FIRST_TRIALS}))
            side.measure({"trials": contestant.trials})  # until it is warm
        for _ in range(TIMES):
            for name, side in sides.items():
                results[name].studies.append(side.measure({"trials": CONTESTANTS[name].trials}))
    return Table(
        title="Searches: what a trial costs that does nothing",
        columns=(
            "side",
            "trials of a study",
            "ms per trial, steady",
            "ms per trial of the whole call",
            f"first call, {FIRST_TRIALS} trials, s",
            "to ours, steady",
            "to ours, whole",
        ),
        rows=tuple(_row(result, results.get(OURS)) for result in results.values()),
        notes="A function of one float that returns it, parameters chosen at random, 2 trials at a time; median (least to most) of "
        f"{TIMES} studies of one session, the sides by turns, after a first one of {FIRST_TRIALS} trials and one of full size that do "
        "not count. Steady is the time from the end of the first tenth of the trials to the end of the last one, divided by their "
        "number; the whole call is that of the function that runs a study, divided likewise, with the start of its processes "
        "in it. Spark is `local-cluster[2,1,1024]` on the same pyspark for all sides that have one, and Ray has 2 processors. "
        "Ours keeps its study in a project on the local disk: a journal, and for each trial a folder with its log, metrics and record; Ray "
        "Tune keeps its results in a folder there, MLflow in SQLite, each study in an experiment of its own; SparkTrials and bare jobs keep nothing. SparkTrials looks "
        f"for trials once a second. The load average before the start was {load:.1f}, on {os.cpu_count()} cores.",
    )


def enter(resources: contextlib.ExitStack, contestant: Contestant) -> Side:
    """Starts the program of a side, which ends with the resources."""
    folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
    side = Side(contestant.python(), contestant.module, folder)
    resources.enter_context(side)
    return side


def _row(result: Result, ours: Result | None) -> tuple[str, ...]:
    ratios = [
        "-" if ours is None else f"{result.median(name) / ours.median(name):.1f}"
        for name in ("steady", "whole")
    ]
    return (
        result.contestant.title,
        f"{result.contestant.trials:,}",
        result.text("steady"),
        result.text("whole"),
        f"{result.first['seconds']:.1f}",
        *ratios,
    )


def _figure(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


if __name__ == "__main__":
    print(measure(sys.argv[1:] or tuple(CONTESTANTS)).render())
