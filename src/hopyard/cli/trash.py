"""`hopyard rm`, `hopyard restore` and `hopyard trash`: removing runs, and having them back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.completers import complete_removed, complete_runs
from hopyard.cli.output import console
from hopyard.cli.output.columns import Column, Cut
from hopyard.cli.output.wording import local_time
from hopyard.cli.runs import STYLES
from hopyard.cli.settings import Settings
from hopyard.run.shared_options import NAME, is_name

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import RunId
    from hopyard.tracking.trash import RemovedRun

COLUMNS = (
    Column(name="RUN", cut=Cut.START, least=21),
    Column(name="NAME", cut=Cut.END, least=8),
    Column(name="STATE"),
    Column(name="STARTED", is_optional=True),
    Column(name="REMOVED"),
)


def rm(
    context: typer.Context,
    *,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Each one an id, the end of an id, a name, or 'last'.",
            autocompletion=complete_runs,
        ),
    ],
) -> None:
    """Move runs to the trash of the project. A study goes with its trials.

    A run that is running is refused. `hopyard restore` brings a run back.
    """
    from hopyard.tracking.trash import check_removable, remove_run

    settings = Settings.of(context)
    project = settings.open_project()
    with console.busy("Looking for the runs"):
        chosen = list(dict.fromkeys(find_whole_run(project, text) for text in runs))
        for run_id in chosen:  # all or none
            check_removable(project, run_id, time.time())
    for run_id in chosen:
        with console.busy(f"Moving {run_id}"):
            removed = remove_run(project, run_id, time.time())
        console.line(f"Moved {removed.id} ({removed.name}) to the trash.")
    console.note(f"Undo with: {settings.command('restore', *map(str, chosen))}")


def restore(
    context: typer.Context,
    *,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Each one an id, the end of an id, or a name.",
            autocompletion=complete_removed,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A new name for the run.", show_default="the name that it had"),
    ] = None,
) -> None:
    """Bring runs back from the trash. `hopyard trash` lists what is there.

    A study whose name another one has by now needs a new name.
    """
    from hopyard.tracking.trash import find_removed, restore_run

    if name is not None and len(runs) > 1:
        raise typer.BadParameter(f"--name is for one run, and {len(runs)} were given.", param_hint="--name")
    if name is not None and not is_name(name):
        raise typer.BadParameter(f"{name!r:.120} is not valid; {NAME}.", param_hint="--name")
    project = Settings.of(context).open_project()
    with console.busy("Looking into the trash"):
        chosen = {each.id: each for each in (find_removed(project, text) for text in runs)}
    for removed in chosen.values():
        with console.busy(f"Moving {removed.id}"):
            restore_run(project, removed, name=name)
        console.line(f"Restored {removed.id} ({name or removed.name}).")


def trash(context: typer.Context) -> None:
    """List the runs in the trash, the last removed first."""
    from hopyard.tracking.trash import list_trash

    project = Settings.of(context).open_project()
    with console.busy("Looking into the trash"):
        found = list_trash(project)
    if not found:
        console.note(f"The trash of {project.path} is empty.")
        return
    console.table(COLUMNS, [row(removed) for removed in found], styles=STYLES)
    console.note(f"To free their space, delete the folder {project.url(project.layout.trash)}.")


def row(removed: RemovedRun) -> tuple[str, ...]:
    """Returns the cells of one removed run."""
    record = removed.record
    return (
        str(removed.id),
        removed.name,
        "" if record is None else record.state_at(removed.removed).value,
        "" if record is None else local_time(record.started),
        local_time(removed.removed),
    )


def find_whole_run(project: Project, text: str) -> RunId:
    """Returns the run that a user means.

    Raises:
        RunNotFound: No run answers to the text.
        AmbiguousRun: Several do.
        BadParameter: It is a trial: a study without one of its trials would be broken.
    """
    from hopyard.tracking import find_run

    run_id = find_run(project, text).id
    if run_id.trial:
        raise typer.BadParameter(f"{run_id} is a trial; give its whole study.", param_hint="RUN")
    return run_id
