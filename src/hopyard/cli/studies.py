"""`hopyard studies`: the searches of the project, how far they are, and the best of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.output import console
from hopyard.cli.output.as_json import print_json, study_object
from hopyard.cli.output.columns import Column, Cut, shortened
from hopyard.cli.output.wording import number
from hopyard.cli.runs import MOST_SHOWN, STYLES, THREADS
from hopyard.cli.runs import row as run_row
from hopyard.cli.settings import Settings

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import RunRecord, StudyRecord

STUDY = Column(name="STUDY", cut=Cut.START, least=21)
COLUMNS = (
    STUDY,
    Column(name="NAME", cut=Cut.END, least=8, is_first=True),
    Column(name="STATE"),
    Column(name="TRIALS"),
    Column(name="BEST", cut=Cut.END, least=16),
    Column(name="STARTED", is_optional=True),
    Column(name="DURATION", is_optional=True),
)
UNDER_WAY = ("WAITING", "RUNNING")
AT_ONCE = 4 * THREADS


def studies(
    context: typer.Context,
    *,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            metavar="N",
            help="List at most N studies.",
            show_default=f"{MOST_SHOWN}; all with --json",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """List the studies of the project, newest first."""
    from hopyard.tracking import list_runs

    settings = Settings.of(context)
    project = settings.open_project()
    most = limit or (None if as_json else MOST_SHOWN)
    with console.busy("Reading studies"):
        listing = list_runs(project)
        # one more, to see whether there are more
        found = list(islice(studies_among(project, listing.runs), most and most + 1))
    now = time.time()
    if as_json:
        print_json([study_object(project, *each, now=now) for each in found[:most]])
    elif found:
        rows = [row(*each, now=now) for each in found[:most]]
        columns = (shortened(STUDY, [cells[0] for cells in rows]), *COLUMNS[1:])
        console.table(columns, rows, styles=STYLES)
    else:
        console.note(
            f"No studies yet in {project.path}; make one with: {settings.command('search', '--help')}"
        )
    if most is not None and len(found) > most:
        console.note(f"There are older studies: --limit {10 * most} shows more.")
    for corrupt in listing.corrupt:
        console.warning(str(corrupt))


def studies_among(project: Project, runs: Sequence[RunRecord]) -> Iterator[tuple[RunRecord, StudyRecord]]:
    """Yields those runs that are studies, in their order, reading no further ahead than a few."""
    from hopyard.errors import CorruptRecord
    from hopyard.tracking import study_record

    with ThreadPoolExecutor(THREADS) as pool:
        for first in range(0, len(runs), AT_ONCE):
            some = runs[first : first + AT_ONCE]
            for run, found in [(run, pool.submit(study_record, project, run.id)) for run in some]:
                try:
                    study = found.result()
                except CorruptRecord as error:
                    console.warning(str(error))
                    continue
                if study is not None:
                    yield run, study


def row(run: RunRecord, study: StudyRecord, *, now: float) -> tuple[str, ...]:
    """Returns the cells of one study as seen at `now`."""
    run_id, name, state, _, started, lasted, _ = run_row(run, (), now=now)
    return run_id, name, state, progress(study), best(study), started, lasted


def progress(study: StudyRecord) -> str:
    """Returns how many trials have ended, of how many, and how many of them failed."""
    counts = {state: count for state, count in study.counts.items() if isinstance(count, int)}
    done = sum(count for state, count in counts.items() if state not in UNDER_WAY)
    failed = counts.get("FAILED", 0)
    return f"{done}{f'/{study.trials}' if study.trials else ''}{f' ({failed} failed)' if failed else ''}"


def best(study: StudyRecord) -> str:
    """Returns the best value so far; nothing if there is none, or several objectives."""
    return "" if study.best_value is None else f"{study.objectives[0]}={number(study.best_value)}"
