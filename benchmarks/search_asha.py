"""A search of Keras models on scikit-learn's digits: a whole grid, against the same grid with hopeless trials ended."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.cluster import own_python
from benchmarks.feed_side import Side
from benchmarks.report import Table
from benchmarks.search_asha_program import EPOCHS, SPACE

SEEDS = (1, 2)
PRUNERS = {None: "all epochs", "asha": 'pruner="asha"'}


def run() -> Table:
    """Measures all seeds."""
    return measure(SEEDS)


def measure(seeds: Sequence[int]) -> Table:
    """Measures both ways with some seeds."""
    load = os.getloadavg()[0]
    rows: list[tuple[str, ...]] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        Side(own_python(), "benchmarks.search_asha_program", Path(folder)) as side,
    ):
        for seed in seeds:
            whole: Mapping[str, float] | None = None
            for pruner, title in PRUNERS.items():
                began = time.monotonic()
                figures = side.measure({"pruner": pruner, "seed": seed})
                seconds = time.monotonic() - began
                whole = whole or figures
                rows.append(_row(seed, title, figures, whole, seconds))
    combinations = " x ".join(f"{len(values)} values of {name}" for name, values in SPACE.items())
    return Table(
        title="Searches: hopeless trials of a Keras model are ended",
        columns=(
            "seed",
            "search",
            "trials, of them ended early",
            "epochs",
            "of the grid's",
            "best accuracy",
            "s",
        ),
        rows=tuple(rows),
        notes=f"scikit-learn's digits, a dense layer, {combinations}, at most {EPOCHS} epochs each, 2 slots of `local-cluster[2,1,1024]`; the accuracy of a trial is that "
        "after its best epoch, on the fifth of the digits that was not trained on; the best one is of the trials that were not ended. The seed is that of the weights and of the split. "
        f"The load average before the start was {load:.1f}, on {os.cpu_count()} cores.",
    )


def _row(
    seed: int, title: str, figures: Mapping[str, float], whole: Mapping[str, float], seconds: float
) -> tuple[str, ...]:
    return (
        str(seed),
        title,
        f"{figures['trials']}, {figures['stopped']}",
        f"{figures['epochs']:,}",
        f"{figures['epochs'] / whole['epochs']:.0%}",
        f"{figures['best']:.4f}",
        f"{seconds:.0f}",
    )


if __name__ == "__main__":
    print(measure(tuple(map(int, sys.argv[1:])) or SEEDS).render())
