"""Which runs are studies, and which of them a user means."""

from __future__ import annotations

from collections.abc import Callable

from hopyard.codec.records import decode
from hopyard.errors import PathNotFound, RunNotFound
from hopyard.store import Project
from hopyard.tracking.catalog import LAST, find_run
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import RunRecord, StudyRecord
from hopyard.tracking.run_index import RunIndex
from hopyard.tracking.runid import RunId


def study_record(project: Project, run_id: RunId | str) -> StudyRecord | None:
    """Returns what a run's study looks for and how far it is; None if the run is no study.

    Raises:
        CorruptRecord: It cannot be understood.
    """
    path = run_paths(project, run_id).study
    try:
        return decode(StudyRecord, project.read(path), path)
    except PathNotFound:
        return None


def list_studies(
    project: Project, wanted: Callable[[RunRecord], bool] = lambda _: True
) -> tuple[RunRecord, ...]:
    """Returns the runs of a project that are studies and are wanted, newest first."""
    return tuple(RunIndex(project).studies(wanted))


def newest_study(project: Project, name: str | None = None) -> RunRecord | None:
    """Returns the newest study of a project, or the newest of a name; None if there is none."""
    return next(RunIndex(project).studies(lambda run: name in (None, run.name)), None)


def find_study(project: Project, text: str) -> RunId:
    """Returns the study that a user means by `text`.

    Args:
        project: Where to look.
        text: ``last`` for the newest study, an id, the end of an id, or a name.

    Raises:
        RunNotFound: No run answers to `text`, or it is no study.
        AmbiguousRun: Several do.
    """
    newest = newest_study(project) if text == LAST else None
    run_id = newest.id if newest is not None else find_run(project, text).id
    if not project.exists(run_paths(project, run_id).study):
        raise RunNotFound(text, project.path)
    return run_id
