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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import feed_flight
from benchmarks.cluster import own_python
from benchmarks.feed_data import FOLDER, parquet_folder
from benchmarks.feed_functions import BATCH
from benchmarks.feed_rate import ROW_BYTES
from benchmarks.feed_side import Side
from benchmarks.old_library import VERSION, old_python
from benchmarks.report import Table

TIMES = 5
FIRST_CALLS = (1, 2, 4, 8, 16)
OLD_ROWS, FACADE_ROWS, FRAME_ROWS = 20_000, 320_000, 640_000
FLIGHT = "flight"
RDD, FRAME = "RDD", "DataFrame"
WHATS = ("train", "inference")

Rates = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A feed to measure: how a reader would call it, what is fed, and how a side is asked for it."""

    title: str
    data: str
    question: Mapping[str, object]

    @property
    def returns(self) -> bool:
        """Whether there is a result for each row."""
        return self.question["what"] == "inference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A side: what runs it, what it is asked, and how often in vain before it counts."""

    title: str
    module: str
    python: Callable[[], Path]
    works: tuple[Work, ...]
    warm_ups: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a work of a side."""

    side: str
    work: Work
    rates: list[Rates] = field(default_factory=list)

    def rate(self, name: str) -> float:
        return statistics.median(each[name] for each in self.rates)

    def text(self, name: str) -> str:
        figures = [each[name] for each in self.rates]
        return f"{self.rate(name):,.0f} ({min(figures):,.0f} to {max(figures):,.0f})"

    @property
    def main(self) -> str:
        """The figure to compare: results come back when the nodes have seen the rows, so calls are compared."""
        return "whole" if self.work.returns else "steady"


def rdd_works(rows: int) -> tuple[Work, ...]:
    """Returns the feeds of an RDD."""
    return tuple(
        Work(title=f"{what}(), RDD", data=RDD, question={"what": what, "rows": rows}) for what in WHATS
    )


def old_frame_works(rows: int) -> tuple[Work, ...]:
    """Returns the feeds of a DataFrame in Spark's memory for a side that knows RDDs only."""
    question = {"rows": rows, "files": str(FOLDER / f"{rows}-rows")}
    return tuple(
        Work(
            title=f"{what}(), rdd of a DataFrame in Spark's memory",
            data=FRAME,
            question={"what": what, **question},
        )
        for what in WHATS
    )


def frame_work(title: str, what: str, source: str) -> Work:
    """Returns a feed of a DataFrame."""
    return Work(title=title, data=FRAME, question={"what": what, "source": source, "rows": FRAME_ROWS})


CONTESTANTS = {
    "old": Contestant(
        title=f"TensorFlowOnSpark {VERSION}",
        module="benchmarks.feed_program",
        python=old_python,
        works=(*rdd_works(OLD_ROWS), *old_frame_works(OLD_ROWS)),
    ),
    "facade": Contestant(
        title="Hopyard, the same program",
        module="benchmarks.feed_program",
        python=own_python,
        works=rdd_works(FACADE_ROWS),
    ),
    "native": Contestant(
        title="Hopyard",
        module="benchmarks.feed_native",
        python=own_python,
        works=(
            frame_work("train(), DataFrame in Spark's memory", "train", "memory"),
            frame_work("train(), the same, read as it comes", "iterate", "memory"),
            frame_work("train(), DataFrame of Parquet", "train", "parquet"),
            frame_work("inference(), DataFrame in Spark's memory", "inference", "memory"),
        ),
        warm_ups=20,  # Java compiles Spark's way of a DataFrame in several steps, of which the last come late
    ),
}
NAMES = (*CONTESTANTS, FLIGHT)


def run() -> Table:
    """Measures all sides."""
    return measure(NAMES)


def measure(names: Sequence[str]) -> Table:
    """Measures some sides by turns."""
    wanted = {name: CONTESTANTS[name] for name in names if name in CONTESTANTS}
    results = {
        name: [Result(side=each.title, work=work) for work in each.works] for name, each in wanted.items()
    }
    flight = Result(side="Arrow Flight alone", work=Work(title="DoPut", data="", question={"what": FLIGHT}))
    first: dict[str, list[float]] = {}
    parquet_folder(OLD_ROWS)
    with contextlib.ExitStack() as resources:
        sides = {name: enter(resources, contestant) for name, contestant in wanted.items()}
        for name, contestant in wanted.items():
            for work in contestant.works * contestant.warm_ups:
                first.setdefault(work.title, []).append(sides[name].measure(work.question)["whole"])
        for _ in range(TIMES):
            for name, side in sides.items():
                for result in results[name]:
                    result.rates.append(side.measure(result.work.question))
            if FLIGHT in names:
                flight.rates.append(feed_flight.measure(FRAME_ROWS))
    all_results = [*(each for name in wanted for each in results[name]), *([flight] if flight.rates else [])]
    return _table(all_results, _growth(first))


def enter(resources: contextlib.ExitStack, contestant: Contestant) -> Side:
    """Starts the program of a side, which ends with the resources."""
    folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
    side = Side(contestant.python(), contestant.module, folder)
    resources.enter_context(side)
    return side


def _growth(first: Mapping[str, Sequence[float]]) -> str:
    """Returns words on how fast the calls were before a session was warm."""
    shown = [
        f"{title}: " + ", ".join(f"{rates[place - 1]:,.0f}" for place in FIRST_CALLS if place <= len(rates))
        for title, rates in first.items()
        if len(rates) > 1
    ]
    which = ", ".join(map(str, FIRST_CALLS))
    return f" Whole calls before the session was warm, number {which}: {'; '.join(shown)}." if shown else ""


def _table(results: Sequence[Result], growth: str) -> Table:
    return Table(
        title="FeedController",
        columns=(
            "side",
            "what",
            "rows/s",
            "rows/s of the whole call",
            "MB/s",
            "to the old, RDD",
            "to the old, DataFrame",
            "to Flight",
        ),
        rows=tuple(_row(result, results) for result in results),
        notes=f"Rows of 784 float32 and a label into 2 nodes on `local-cluster[2,1]`; median (least to most) of {TIMES} "
        "feeds of one session that is warm, the sides by turns. Spark talks to its Python through Unix sockets. Rows per second are counted from the first batch that "
        "a node got to the last that was full; the whole call is that of train(), or that of inference() and the count of its "
        "results, and for inference the other columns go by it. Rows of an RDD are Python tuples (list of floats, "
        f"label), made in the task at no cost, {OLD_ROWS:,} for the old library and {FACADE_ROWS:,} for ours; a "
        f"DataFrame has {FRAME_ROWS:,} rows with an array<float> and an int, in 8 partitions, half of them on either executor. The old library is fed with the rdd of "
        f"such a DataFrame of {OLD_ROWS:,} rows, too. More rows make the fixed cost of a call "
        "weigh less, so the whole calls favour the sides with more of them. Nodes read batches of 100 rows of an RDD, "
        f"on executors of 1 GB, and of {BATCH:,} rows of a DataFrame with ours, on executors of 3 GB; batches are copied that lie in two pieces, but not where "
        "rows are read as they come. Arrow Flight alone is two clients and "
        "two servers, processes of their own, with record batches of 2 MB and nothing else. Before it counts, our side has fed "
        f"each DataFrame {CONTESTANTS['native'].warm_ups} times, until Java has compiled what Spark does.{growth}",
    )


def _row(result: Result, results: Iterable[Result]) -> tuple[str, ...]:
    rate = result.rate(result.main)
    old = [each for each in results if _is_old(each) and each.work.returns == result.work.returns]
    by_data = {data: [each for each in old if each.work.data == data] for data in (RDD, FRAME)}
    flight = [each for each in results if each.work.question["what"] == FLIGHT]
    return (
        result.side,
        result.work.title,
        "-" if result.work.returns else result.text("steady"),
        result.text("whole"),
        f"{rate * ROW_BYTES / 1e6:,.0f}",
        _ratio(rate, by_data[RDD], 1),
        "-" if result.work.data == RDD else _ratio(rate, by_data[FRAME], 1),
        _ratio(rate, flight, 3),
    )


def _is_old(result: Result) -> bool:
    return result.side == CONTESTANTS["old"].title


def _ratio(rate: float, references: Sequence[Result], digits: int) -> str:
    return "".join(f"{rate / each.rate(each.main):.{digits}f}" for each in references) or "-"


if __name__ == "__main__":
    print(measure(sys.argv[1:] or NAMES).render())
