"""`hopyard trials`: the trials of a study, as a table, as CSV, or as Optuna's journal."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.completers import complete_studies
from hopyard.cli.output import console
from hopyard.cli.output.as_json import print_json, trial_object
from hopyard.cli.output.columns import Column, Cut
from hopyard.cli.output.wording import duration, number
from hopyard.cli.runs import STYLES as RUN_STYLES
from hopyard.cli.runs import first_line
from hopyard.cli.settings import Settings

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import RunId, RunRecord, StudyRecord, TrialRecord

LAST = "last"
MOST_SHOWN = 50
ORDER = ("FINISHED", "PRUNED", "FAILED", "RUNNING", "WAITING")
STYLES = {**RUN_STYLES, "PRUNED": "yellow"}


class Sort(Enum):
    """In which order trials are listed."""

    NUMBER = "number"
    VALUE = "value"


def trials(
    context: typer.Context,
    *,
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="'last', an id, the end of an id, or a name.",
            autocompletion=complete_studies,
        ),
    ] = LAST,
    sort: Annotated[
        Sort, typer.Option(help="Order by number, or by the first metric with the best first.")
    ] = Sort.NUMBER,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            metavar="N",
            help="List at most N trials.",
            show_default=f"{MOST_SHOWN}; all with --csv or --json",
        ),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="List only trials that failed.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV, with a column for each parameter.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the study as Optuna's journal, for optuna-dashboard FILE."),
    ] = None,
) -> None:
    """List the trials of a study."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json exclude each other; choose one.", param_hint="--json")
    settings = Settings.of(context)
    project = settings.open_project()
    run, record = read_study(project, study, settings)
    if journal is not None:
        write_journal(project, run.id, journal)
        return
    from hopyard.tracking import read_trials

    with console.busy("Reading its trials"):
        listing = read_trials(project, run.id)
        found = chosen(as_they_stand(listing, run), record, sort=sort, failed=failed)
    most = limit or (len(found) if as_csv or as_json else MOST_SHOWN)
    shown, now = found[:most], Now.of(run)
    if as_json:
        objects = (trial_object(project, run, record, each, seconds=now.lasted(each)) for each in shown)
        print_json(objects)
    else:
        (print_csv if as_csv else print_table)(shown, record, now)
    if len(found) > most:
        console.note(f"There are {len(found) - most} more: --limit {len(found)} shows all.")
    elif not found and not as_json:
        console.note(f"Study {run.id} has no trials{' that failed' if failed else ' yet'}.")
    warn(listing.corrupt)


def warn(corrupt: Iterable[Exception]) -> None:
    """Says what could not be read."""
    for each in corrupt:
        console.warning(str(each))


def read_study(project: Project, text: str, settings: Settings) -> tuple[RunRecord, StudyRecord]:
    """Returns the run and the record of the study that a user means; raises as `find_study`."""
    from hopyard.tracking import study_record

    with console.busy("Reading the study"):
        run = find_study(project, text, settings)
        record = study_record(project, run.id)
    assert record is not None
    return run, record


def find_study(project: Project, text: str, settings: Settings) -> RunRecord:
    """Returns the run of the study that a user means; ``last`` is the newest study, whatever else was run since.

    Raises:
        RunNotFound: No run answers to the text.
        AmbiguousRun: Several do.
        BadParameter: It is a run, but no study.
    """
    from hopyard.tracking import find_run, newest_study, study_record

    others = f"`{settings.command('studies')}` lists the studies"
    if text == LAST:
        newest = newest_study(project)
        if newest is None:
            raise typer.BadParameter(
                f"there are no studies yet in {project.path}; start one with `hopyard search`.",
                param_hint="STUDY",
            )
        return newest
    run = find_run(project, text).record()
    if study_record(project, run.id) is None:
        raise typer.BadParameter(f"run {run.id} is not a study; {others}.", param_hint="STUDY")
    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """Until when a trial that is under way has been running for sure.

    Attributes:
        time: Now, or the last sign of life of a driver that is gone.
    """

    time: float

    @classmethod
    def of(cls, run: RunRecord) -> Now:
        """Returns it for the trials of a run."""
        from hopyard.tracking import RunState

        now = time.time()
        return cls(time=now if run.state_at(now) is RunState.RUNNING else run.updated)

    def lasted(self, trial: TrialRecord) -> float | None:
        """Returns how many seconds a trial has taken; None if it has not begun."""
        if trial.started is None:
            return None
        return (self.time if trial.ended is None else trial.ended) - trial.started


def as_they_stand(found: Iterable[TrialRecord], run: RunRecord) -> Sequence[TrialRecord]:
    """Returns the trials of a study; in one that nobody carries any more, those under way wait to be run again."""
    from hopyard.tracking import RunState, TrialState

    if run.state_at(time.time()) is RunState.RUNNING:
        return tuple(found)
    return tuple(
        replace(trial, state=TrialState.WAITING) if trial.state is TrialState.RUNNING else trial
        for trial in found
    )


def chosen(
    found: Iterable[TrialRecord], study: StudyRecord, *, sort: Sort, failed: bool
) -> Sequence[TrialRecord]:
    """Returns the trials that are to be listed, in their order.

    By value those come first that have ended: what a trial reported until it was stopped is not comparable.
    """
    from hopyard.tracking import Direction, TrialState

    some = [trial for trial in found if trial.state is TrialState.FAILED or not failed]
    if sort is Sort.NUMBER:
        return some
    sign = -1 if study.directions[0] is Direction.MAX else 1
    return sorted(
        some,
        key=lambda trial: (
            trial.state is not TrialState.FINISHED,
            trial.value is None,
            sign * (trial.value or 0.0),
        ),
    )


def print_table(found: Sequence[TrialRecord], study: StudyRecord, now: Now) -> None:
    """Prints trials as a table; the column of errors is there if there are any."""
    errors = any(trial.error for trial in found)
    columns = [
        Column(name="TRIAL"),
        Column(name="STATE"),
        *(Column(name=objective) for objective in study.objectives),
        Column(name="PARAMETERS", cut=Cut.END, least=20),
        Column(name="DURATION"),
        *([Column(name="ERROR", cut=Cut.END, least=16)] if errors else []),
    ]
    rows = [
        [
            str(trial.number),
            trial.state.value,
            *values_of(trial, len(study.objectives)),
            shown_params(trial),
            lasted(trial, now),
            *([shown_error(trial)] if errors else []),
        ]
        for trial in found
    ]
    if rows:
        console.table(columns, rows, styles=STYLES)


def print_csv(found: Sequence[TrialRecord], study: StudyRecord, now: Now) -> None:
    """Prints trials as CSV, with all digits."""
    names = list(dict.fromkeys(name for trial in found for name in trial.params))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", "state", *study.objectives, *names, "seconds", "folder", "error"])
    for trial in found:
        values = [*trial.values, *([""] * (len(study.objectives) - len(trial.values)))]
        params = [trial.params.get(name, "") for name in names]
        seconds = now.lasted(trial)
        rest = ["" if seconds is None else round(seconds, 3), trial.folder, shown_error(trial)]
        writer.writerow([trial.number, trial.state.value, *values, *params, *rest])
    console.stream([text.getvalue()])


def write_journal(project: Project, run_id: RunId, file: Path) -> None:
    """Writes a study as Optuna's journal, which its own tools read."""
    from hopyard.store import read_journal
    from hopyard.tracking import run_paths

    path = run_paths(project, run_id).study_journal
    with file.open("wb") as target:
        target.writelines(line + b"\n" for line in read_journal(project, path))
    console.line(f"{file}: for optuna-dashboard {file}")
    if project.capabilities.can_append:
        console.note(f"On this project {project.url(path)} is the same, and grows with the study.")


def values_of(trial: TrialRecord, count: int) -> list[str]:
    """Returns the values of a trial, one for each objective; empty where it has none."""
    return [number(value) for value in trial.values] or [""] * count


def shown_values(trial: TrialRecord, objectives: Sequence[str]) -> str:
    """Returns the values of a trial with the names of the objectives."""
    return " ".join(f"{name}={number(value)}" for name, value in zip(objectives, trial.values, strict=False))


def shown_params(trial: TrialRecord) -> str:
    """Returns the parameters of a trial on one line; floats with the digits that tell them apart."""
    return " ".join(f"{name}={shown(value)}" for name, value in trial.params.items())


def shown(value: object) -> str:
    """Returns a parameter's value for a person."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def shown_error(trial: TrialRecord) -> str:
    """Returns what went wrong in a trial, in a line; nothing if nothing did."""
    return first_line(trial.error) if trial.error else ""


def lasted(trial: TrialRecord, now: Now) -> str:
    """Returns how long a trial has taken, for a person."""
    seconds = now.lasted(trial)
    return "" if seconds is None else duration(seconds)
