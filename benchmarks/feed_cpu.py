"""Where the time of a feed goes: what the processors do meanwhile."""

from __future__ import annotations

import contextlib
import statistics

from benchmarks.feed import CONTESTANTS, TIMES, enter, frame_work
from benchmarks.feed_processes import KINDS
from benchmarks.feed_stages import SOURCES
from benchmarks.report import Table

WARM_UPS = CONTESTANTS["native"].warm_ups


def run() -> Table:
    """Measures feeds of a DataFrame from both sources by turns."""
    taken: dict[str, list[dict[str, float]]] = {source: [] for source in SOURCES}
    with contextlib.ExitStack() as resources:
        side = enter(resources, CONTESTANTS["native"])
        for turn in range(WARM_UPS + TIMES):
            for source in SOURCES:
                figures = side.measure(frame_work("train", "train", source).question)
                if turn >= WARM_UPS:
                    taken[source].append(figures)
    rows = [(kind, *(f"{_median(taken[source], kind):.1f}" for source in SOURCES)) for kind in KINDS]
    sums = [sum(_median(taken[source], kind) for kind in KINDS) for source in SOURCES]
    rates = [_median(taken[source], "whole") for source in SOURCES]
    return Table(
        title="Where the time of a feed goes: processors",
        columns=("process", *(f"{title}, µs per row" for title in SOURCES.values())),
        rows=(
            *rows,
            ("all", *(f"{each:.1f}" for each in sums)),
            ("as many rows/s are two processors at most", *(f"{2e6 / each:,.0f}" for each in sums)),
            ("rows/s of the whole call", *(f"{each:,.0f}" for each in rates)),
        ),
        notes=f"train() of the same DataFrame into 2 nodes on the same Spark; processor time of all its processes during the "
        f"call, median of {TIMES} after {WARM_UPS} that warm up.",
    )


def _median(figures: list[dict[str, float]], name: str) -> float:
    return statistics.median(each[name] for each in figures)


if __name__ == "__main__":
    print(run().render())
