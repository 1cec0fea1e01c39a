"""Differential evolution of trials that take unevenly long: each competes at once, against generation by generation."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cluster import Steps, own_python
from benchmarks.feed_side import Side
from benchmarks.report import Table
from benchmarks.search_async_program import (
    EVALUATIONS,
    GENERATIONS,
    LONGEST,
    MIXED,
    POPULATION,
    RARE,
    SHORTEST,
    SPREAD,
)

TIMES = 2
SLOTS = (4, 8)
TITLES = {
    SPREAD: f"evenly from {SHORTEST * 1000:.0f} to {LONGEST * 1000:.0f} ms",
    MIXED: f"{SHORTEST * 1000:.0f} ms, {RARE:.0%} of them {LONGEST * 1000:.0f} ms",
}


def run() -> Table:
    """Measures all cases."""
    return measure(SLOTS)


def measure(slots: Sequence[int]) -> Table:
    """Measures both ways by turns, with some numbers of slots."""
    load = os.getloadavg()[0]
    cases = [(durations, count) for durations in TITLES for count in slots]
    taken: dict[tuple[str, int, bool], list[Steps]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        Side(own_python(), "benchmarks.search_async_program", Path(folder)) as side,
    ):
        side.measure(_question(SPREAD, max(slots), synchronous=False, seed=0))  # until all slots are warm
        for turn in range(TIMES):
            for durations, count in cases:
                for synchronous in (False, True):
                    figures = side.measure(_question(durations, count, synchronous=synchronous, seed=turn))
                    taken.setdefault((durations, count, synchronous), []).append(figures)
    return Table(
        title="Searches: evolution of trials that take unevenly long",
        columns=(
            "durations",
            "slots",
            "at once, s",
            "by generations, s",
            "ratio",
            "at once: slots busy",
            "of the whole time",
            "by generations: slots busy",
            "of the whole time",
        ),
        rows=tuple(_row(*case, taken[(*case, False)], taken[(*case, True)]) for case in cases),
        notes=f"Differential evolution of two floats, {POPULATION} members and {GENERATIONS} generations after the first, {EVALUATIONS} trials that sleep; how long goes by "
        f"the number of the trial, so both ways have the same to do. Median of {TIMES} studies with different seeds, the ways by turns, on one warm "
        "`local-cluster[2,4,1024]`. Time is from the first moment that a function ran to the last. A slot is busy while a function sleeps in it: "
        "from when all slots have had their first trial to when the last trial begins, and of the whole time, with the start of the slots' "
        "processes and the end, when there is nothing left to begin. "
        f"The load average before the start was {load:.1f}, on {os.cpu_count()} cores.",
    )


def _question(durations: str, slots: int, *, synchronous: bool, seed: int) -> dict[str, object]:
    return {"durations": durations, "slots": slots, "synchronous": synchronous, "seed": seed}


def _row(durations: str, slots: int, at_once: list[Steps], generations: list[Steps]) -> tuple[str, ...]:
    fast, slow = _median(at_once, "wall"), _median(generations, "wall")
    return (
        TITLES[durations],
        str(slots),
        f"{fast:.2f}",
        f"{slow:.2f}",
        f"{slow / fast:.2f}",
        f"{_median(at_once, 'busy'):.1%}",
        f"{_median(at_once, 'busy_whole'):.1%}",
        f"{_median(generations, 'busy'):.1%}",
        f"{_median(generations, 'busy_whole'):.1%}",
    )


def _median(figures: list[Steps], name: str) -> float:
    return statistics.median(each[name] for each in figures)


if __name__ == "__main__":
    print(measure(tuple(map(int, sys.argv[1:])) or SLOTS).render())
