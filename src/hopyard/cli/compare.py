"""`hopyard compare`: several runs side by side, with a mark where they differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopyard.cli.completers import complete_runs
from hopyard.cli.output import console
from hopyard.cli.output.as_json import print_json, run_object
from hopyard.cli.output.columns import Column, Cut, cut
from hopyard.cli.output.wording import duration, local_time, number
from hopyard.cli.runs import STYLES, THREADS, first_line, newest_of
from hopyard.cli.settings import Settings
from hopyard.cli.trial_names import find_run_or_trial

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import MetricPoint, RunId, RunReader, RunRecord

MARK = "*"
MOST_SHOWN = 200


def compare(
    context: typer.Context,
    *,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Each one 'last', an id, the end of an id, or a name; for a trial, add /N.",
            autocompletion=complete_runs,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Show runs or trials side by side, with a * where they differ."""
    if not 2 <= len(runs) <= len(ascii_uppercase):
        raise typer.BadParameter(
            f"{len(runs)} cannot be compared; give 2 to {len(ascii_uppercase)} runs.", param_hint="RUN"
        )
    project = Settings.of(context).open_project()
    now = time.time()
    with console.busy("Reading runs"), ThreadPoolExecutor(THREADS) as pool:
        readers = list(pool.map(lambda text: find_run_or_trial(project, text), runs))
        sides = list(pool.map(lambda reader: Side.of(project, reader, now=now), readers))
    rows = list(rows_of(sides))
    if as_json:
        differs = [row.name for row in rows if row.differs]
        print_json({"runs": [side.to_json() for side in sides], "differs": differs})
    else:
        print_table(sides, rows)
    for corrupt in (each for side in sides for each in side.corrupt):
        console.warning(str(corrupt))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the runs that are compared.

    Attributes:
        run: Its record.
        known: What `hopyard runs --json` says of it.
        least: The smallest value of each metric.
        greatest: The largest.
        trial: Its number, if it is a trial.
        corrupt: What is wrong with metrics that could not be read.
    """

    run: RunRecord
    known: Mapping[str, Any]
    least: Mapping[str, float]
    greatest: Mapping[str, float]
    trial: int | None = None
    corrupt: Sequence[Exception] = ()

    @classmethod
    def of(cls, project: Project, reader: RunReader, *, now: float) -> Side:
        """Returns a run as seen at `now`."""
        run = reader.record()
        points = reader.metrics()
        return cls(
            run=run,
            known=run_object(project, run, newest_of(points), now=now),
            least=extremes(points, min),
            greatest=extremes(points, max),
            trial=trial_number(project, run.id),
            corrupt=points.corrupt,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns it for other programs."""
        return {
            **self.known,
            "trial": self.trial,
            "metrics_min": self.least,
            "metrics_max": self.greatest,
        }

    @property
    def title(self) -> str:
        """Which run it is."""
        number = "" if self.trial is None else f" (trial {self.trial})"
        return f"{self.known['id']}{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing about each of the runs."""

    name: str
    cells: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs are not all alike in it."""
        return len(set(self.cells)) > 1


def trial_number(project: Project, run_id: RunId) -> int | None:
    """Returns the number of a trial; None if the run is none."""
    from hopyard.tracking import read_trials, trial_record

    if not run_id.trial:
        return None
    record = trial_record(project, run_id)
    if record is not None:
        return record.number
    # of a trial that has not ended, only the study knows
    found = read_trials(project, replace(run_id, trial=""))
    return next((trial.number for trial in found if trial.folder == run_id.trial), None)


def extremes(points: Iterable[MetricPoint], choose: Callable[[float, float], float]) -> dict[str, float]:
    """Returns one value of each metric of the chief, chosen among two again and again."""
    chosen: dict[str, float] = {}
    for point in points:
        if point.rank == 0:
            chosen[point.name] = choose(chosen.get(point.name, point.value), point.value)
    return dict(sorted(chosen.items()))


def rows_of(sides: Sequence[Side]) -> Iterable[Row]:
    """Yields what there is to compare; what none of the runs has is left out."""
    yield from _rows("", [_facts(side) for side in sides])
    yield from _rows("parameter ", [_shown(side.known["parameters"]) for side in sides])
    for title, metrics in (
        ("last ", [side.known["metrics"] for side in sides]),
        ("min ", [side.least for side in sides]),
        ("max ", [side.greatest for side in sides]),
    ):
        yield from _rows(title, [_shown(each) for each in metrics])


def print_table(sides: Sequence[Side], rows: Sequence[Row]) -> None:
    """Prints which run is which, and below it the rows."""
    letters = ascii_uppercase[: len(sides)]
    for letter, side in zip(letters, sides, strict=True):
        console.line(f"{letter}  {side.title}")
    console.line()
    columns = [
        Column(name=" "),
        Column(name="WHAT", cut=Cut.END, least=12),
        *(Column(name=letter, cut=Cut.END, least=8, is_peer=True) for letter in letters),
    ]
    cells = [[MARK if row.differs else "", row.name, *row.cells] for row in rows]
    console.table(columns, cells, styles={**STYLES, MARK: "bold yellow"})


def _facts(side: Side) -> dict[str, str]:
    run = side.run
    return {
        "name": run.name,
        "trial": "" if side.trial is None else str(side.trial),
        "state": side.known["state"],
        "nodes": str(run.nodes),
        "backend": run.backend,
        "started": local_time(run.started),
        "duration": duration(side.known["seconds"]),
        "attempts": str(run.attempts),
        "error": first_line(run.error or ""),
        "value": cut(run.value or "", MOST_SHOWN, Cut.END),
    }


def _shown(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: number(value) if type(value) is float else str(value) for name, value in values.items()}


def _rows(title: str, columns: Sequence[Mapping[str, str]]) -> Iterable[Row]:
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = tuple(column.get(name, "") for column in columns)
        if any(cells):
            yield Row(name=f"{title}{name}", cells=cells)
