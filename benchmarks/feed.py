"""Rows per second into two nodes: TensorFlowOnSpark's own feed, ours, and bare Arrow Flight.

The first two run the same program (`feed_program`) through the same interface; `feed_native` feeds a DataFrame.
Each side has a Spark of its own that stays up, and they take turns. ``python -m benchmarks.feed old flight``
measures some sides alone.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import feed_flight
from benchmarks.cluster import own_python
from benchmarks.feed_rate import ROW_BYTES
from benchmarks.feed_side import Side
from benchmarks.old_library import VERSION, old_python
from benchmarks.report import Table

TIMES = 3
OLD_ROWS, FACADE_ROWS, FRAME_ROWS = 10_000, 40_000, 320_000

Rates = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A feed to measure: what the side is asked, and how a reader would call it."""

    title: str
    question: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A side: what runs it, and what it is asked to do."""

    title: str
    module: str
    python: Callable[[], Path]
    works: tuple[Work, ...]


def _rdd(rows: int) -> tuple[Work, ...]:
    return (
        Work(title="train(), RDD", question={"what": "train", "rows": rows}),
        Work(title="inference(), RDD", question={"what": "inference", "rows": rows}),
    )


def frame_work(title: str, what: str, source: str) -> Work:
    return Work(title=title, question={"what": what, "source": source, "rows": FRAME_ROWS})


CONTESTANTS = {
    "old": Contestant(
        title=f"TensorFlowOnSpark {VERSION}",
        module="benchmarks.feed_program",
        python=old_python,
        works=_rdd(OLD_ROWS),
    ),
    "facade": Contestant(
        title="Hopyard, the same program",
        module="benchmarks.feed_program",
        python=own_python,
        works=_rdd(FACADE_ROWS),
    ),
    "native": Contestant(
        title="Hopyard",
        module="benchmarks.feed_native",
        python=own_python,
        works=(
            frame_work("train(), DataFrame in Spark's memory", "train", "memory"),
            frame_work("train(), DataFrame of Parquet", "train", "parquet"),
            frame_work("inference(), DataFrame in Spark's memory", "inference", "memory"),
        ),
    ),
}
FLIGHT = "flight"
NAMES = (*CONTESTANTS, FLIGHT)


def run() -> Table:
    """Measures all sides."""
    return measure(NAMES)


def measure(names: tuple[str, ...]) -> Table:
    """Measures some sides by turns."""
    taken: dict[tuple[str, str], list[Rates]] = {}
    with contextlib.ExitStack() as resources:
        sides = {name: enter(resources, CONTESTANTS[name]) for name in names if name in CONTESTANTS}
        for turn in range(TIMES + 1):  # the first one only warms up
            for name, side in sides.items():
                for work in CONTESTANTS[name].works:
                    rates = side.measure(work.question)
                    if turn:
                        taken.setdefault((CONTESTANTS[name].title, work.title), []).append(rates)
            if FLIGHT in names and turn:
                key = ("Arrow Flight alone", "DoPut, record batches of 1 MB")
                taken.setdefault(key, []).append(feed_flight.measure(FRAME_ROWS))
    return _table(taken)


def enter(resources: contextlib.ExitStack, contestant: Contestant) -> Side:
    """Starts the program of a side, which ends with the resources."""
    folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
    return resources.enter_context(Side(contestant.python(), contestant.module, folder))


def _table(taken: Mapping[tuple[str, str], list[Rates]]) -> Table:
    medians = {key: (_median(rates, "steady"), _median(rates, "whole")) for key, rates in taken.items()}
    keys = list(medians)
    old, flight = (_first(keys, title) for title in (CONTESTANTS["old"].title, "Arrow Flight alone"))
    rows = []
    for side, what in keys:
        steady, whole = medians[side, what]
        # results of the old library come back only after all rows of a partition are there
        column = 1 if what.startswith("inference") else 0
        rate = medians[side, what][column]
        reference = _counterpart(keys, old, what)
        rows.append(
            (
                side,
                what,
                "-" if column else f"{steady:,.0f} ({_spread(taken[side, what], 'steady')})",
                f"{whole:,.0f} ({_spread(taken[side, what], 'whole')})",
                f"{rate * ROW_BYTES / 1e6:,.0f}",
                _ratio(rate, medians[reference][column] if reference else None, 1),
                _ratio(rate, medians[flight][0] if flight else None, 3),
            )
        )
    return Table(
        title="Feeding",
        columns=(
            "side",
            "what",
            "rows/s",
            "rows/s of the whole call",
            "MB/s",
            "ratio to old",
            "ratio to Flight",
        ),
        rows=tuple(rows),
        notes=f"Rows of 784 float32 and a label into 2 nodes on `local-cluster[2,1]`; median (least to most) of {TIMES} "
        "feeds after one that warms up, the sides by turns. Rows per second are counted from the first row that a node "
        "saw to the last; the whole call is that of train(), or that of inference() with the count of its results, and "
        "the other columns go by it for inference. Rows of an RDD are Python tuples (list of floats, label), made in "
        f"the task at no cost, {OLD_ROWS:,} for the old library and {FACADE_ROWS:,} for ours; a DataFrame has "
        f"{FRAME_ROWS:,} rows with an array<float> and an int. Arrow Flight alone is two pairs of processes, record "
        "batches of 1 MB, nothing else.",
    )


def _median(rates: list[Rates], name: str) -> float:
    return statistics.median(each[name] for each in rates)


def _spread(rates: list[Rates], name: str) -> str:
    figures = [each[name] for each in rates]
    return f"{min(figures):,.0f} to {max(figures):,.0f}"


def _first(keys: list[tuple[str, str]], side: str) -> tuple[str, str] | None:
    return next((key for key in keys if key[0] == side), None)


def _counterpart(
    keys: list[tuple[str, str]], old: tuple[str, str] | None, what: str
) -> tuple[str, str] | None:
    """Returns what the old library does of the same kind."""
    kind = "inference" if what.startswith("inference") else "train"
    return old and next((key for key in keys if key[0] == old[0] and key[1].startswith(kind)), None)


def _ratio(rate: float, reference: float | None, digits: int) -> str:
    return "-" if reference is None else f"{rate / reference:.{digits}f}"


if __name__ == "__main__":
    print(measure(tuple(sys.argv[1:]) or NAMES).render())
