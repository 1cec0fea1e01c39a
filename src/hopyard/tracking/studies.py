"""Which runs are studies, and which of them a user means."""

from __future__ import annotations

from collections.abc import Callable

from hopyard.codec.records import decode
from hopyard.errors import NoSuchStudy, PathNotFound, RunNotFound
from hopyard.store import Project
from hopyard.tracking.catalog import LAST, find_run, near_name
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
        NoSuchStudy: No run answers to `text`, or it is no study.
        AmbiguousRun: Several do.
    """
    if text == LAST:
        newest = newest_study(project)
        if newest is None:
            raise NoSuchStudy(text, project.path, None, ())
        return newest.id
    try:
        run_id = find_run(project, text).id
    except RunNotFound:
        raise _no_such_study(project, text) from None
    if not project.exists(run_paths(project, run_id).study):
        raise _no_such_study(project, text)
    return run_id


def _no_such_study(project: Project, text: str) -> NoSuchStudy:
    """Returns the error that tells which studies there are."""
    studies = {str(study.id): study.name for study in list_studies(project)}
    near = near_name(text, studies)
    return NoSuchStudy(
        text, project.path, near, tuple(f"{run_id} ({name})" for run_id, name in studies.items())
    )
