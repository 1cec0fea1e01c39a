"""Where the time of a feed goes: the rows of a DataFrame moved ever further on their way into numpy arrays."""

from __future__ import annotations

import contextlib
import statistics
import sys

from benchmarks.feed import CONTESTANTS, TIMES, enter, frame_work
from benchmarks.report import Table

SOURCES = {"memory": "in Spark's memory", "parquet": "Parquet"}
STAGES = {
    "scan": "Spark computes the rows",
    "usual": "they get to Spark's Python workers, as Spark has it",
    "worker": "they get there as the feed has it",
    "train": "they get to the nodes",
    "numpy": "they are numpy arrays there",
}
WARM_UPS = 12  # of each of ten; twenty, as for the rates, would take some minutes more


def run() -> Table:
    """Measures all stages."""
    return measure(tuple(STAGES))


def measure(stages: tuple[str, ...]) -> Table:
    """Measures some stages by turns."""
    cases = [(stage, source) for source in SOURCES for stage in stages]
    taken: dict[tuple[str, str], list[float]] = {case: [] for case in cases}
    with contextlib.ExitStack() as resources:
        side = enter(resources, CONTESTANTS["native"])
        for turn in range(WARM_UPS + TIMES):
            for stage, source in cases:
                rate = side.measure(frame_work(stage, stage, source).question)["whole"]
                if turn >= WARM_UPS:
                    taken[stage, source].append(rate)
    rates = {case: statistics.median(figures) for case, figures in taken.items()}
    rows = []
    for stage in stages:
        cells = []
        for source in SOURCES:
            cells += [f"{rates[stage, source]:,.0f}", f"{1e6 / rates[stage, source]:.1f}"]
        rows.append((STAGES[stage], *cells))
    columns = [f"{title}, {unit}" for title in SOURCES.values() for unit in ("rows/s", "µs per row")]
    return Table(
        title="Where the time of a feed goes: how far rows get",
        columns=("as far as", *columns),
        rows=tuple(rows),
        notes=f"The DataFrame of the table above, on the same Spark; median of {TIMES} whole calls after {WARM_UPS} that "
        "warm up, the stages by turns. Each stage has all that come before it in it, but for the usual way to the workers, which "
        "is there to compare; they overlap where cores are free.",
    )


if __name__ == "__main__":
    print(measure(tuple(sys.argv[1:]) or tuple(STAGES)).render())
