"""What the shell offers after the Tab key: the runs and studies of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import RunRecord

LAST = "last"
PROGRAM = "hopyard"
VARIABLE = "_HOPYARD_COMPLETE"
OPTIONS = ("--install-completion", "--show-completion")


def complete_runs(context: typer.Context, incomplete: str) -> list[str]:
    """Returns names and ids of runs that begin with what was typed, newest first."""
    return _offered(context, incomplete, _all_runs)


def complete_studies(context: typer.Context, incomplete: str) -> list[str]:
    """Returns names and ids of studies that begin with what was typed, newest first."""
    return _offered(context, incomplete, _studies)


def complete_removed(context: typer.Context, incomplete: str) -> list[str]:
    """Returns names and ids of runs in the trash that begin with what was typed."""
    return _offered(context, incomplete, _removed)


def _offered(
    context: typer.Context, incomplete: str, find: Callable[[Project], Iterable[RunRecord]]
) -> list[str]:
    """Returns what to offer; nothing on a remote store, which may take longer than somebody waits for a Tab."""
    from hopyard.errors import HopyardError
    from hopyard.store import Project

    options = context.find_root().params
    try:
        project = Project.open(options.get("root"), options.get("project"))
        found = list(find(project)) if project.local_path() is not None else []
    except (HopyardError, OSError):
        return []  # a message would land in the middle of the line that is being typed
    words = [*([LAST] if found else []), *(run.name for run in found), *(str(run.id) for run in found)]
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]


def _all_runs(project: Project) -> Iterable[RunRecord]:
    from hopyard.tracking import list_runs

    return list_runs(project).runs


def _studies(project: Project) -> Iterable[RunRecord]:
    from hopyard.tracking import run_paths

    return [run for run in _all_runs(project) if project.exists(run_paths(project, run.id).study)]


def _removed(project: Project) -> Iterable[RunRecord]:
    from hopyard.tracking.trash import list_trash

    return [removed.record for removed in list_trash(project) if removed.record is not None]
