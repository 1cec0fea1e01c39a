"""Runs that were removed, until they are restored: moved aside in the project, each with all its files and trials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hopyard.codec.records import decode, encode_file
from hopyard.errors import (
    AmbiguousRun,
    CorruptRecord,
    FolderNotEmpty,
    NotInTrash,
    PathNotFound,
    RunIsRunning,
    RunNumberTaken,
    StudyNameTaken,
)
from hopyard.store import Project, RunPaths
from hopyard.tracking.age import age_of
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import RunRecord
from hopyard.tracking.runid import RunId, run_number
from hopyard.tracking.states import RunState
from hopyard.tracking.studies import list_studies

# To the microsecond: a new run may take the id of a removed one, and be removed in its turn.
WHEN = "%Y%m%dT%H%M%S.%fZ"
_WHEN_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedRun:
    """A run in the trash.

    Attributes:
        id: The run.
        when: The name of the folder for the time of its removal.
        record: Its record; None if that cannot be read.
    """

    id: RunId
    when: str
    record: RunRecord | None

    @property
    def removed(self) -> float:
        """When it was removed, in seconds since the epoch."""
        return datetime.strptime(self.when, WHEN).replace(tzinfo=UTC).timestamp()

    @property
    def name(self) -> str:
        """The name that the user gave it."""
        return self.record.name if self.record is not None else "damaged"

    def paths(self, project: Project) -> RunPaths:
        """Returns where it is now."""
        return project.layout.removed(self.when, self.id.app_id, self.id.kind, self.id.number)


def check_removable(project: Project, run_id: RunId) -> None:
    """Checks that nobody works on a run any more; one whose driver has fallen silent, by the clock of the store, may go.

    Raises:
        RunIsRunning: It goes on.
    """
    paths = run_paths(project, run_id)
    record = _record(project, paths)
    if record is None or record.state is not RunState.RUNNING:
        return
    driver = record.driver_process
    is_gone = driver is not None and driver.lives() is False
    if not is_gone and age_of(project, paths.record) <= record.seconds_until_lost:
        raise RunIsRunning(str(run_id))


def remove_run(project: Project, run_id: RunId, now: float) -> RemovedRun:
    """Moves a run to the trash and returns what is there now.

    Args:
        project: Where it is kept.
        run_id: The run; a study takes its trials along.
        now: Seconds since the epoch, for the name of its place in the trash.

    Raises:
        RunIsRunning: It goes on.
    """
    check_removable(project, run_id)
    paths = run_paths(project, run_id)
    when = datetime.fromtimestamp(now, UTC).strftime(WHEN)
    removed = RemovedRun(id=run_id, when=when, record=_record(project, paths))
    project.move(paths.folder, removed.paths(project).folder)
    return removed


def restore_run(project: Project, removed: RemovedRun, *, name: str | None = None) -> None:
    """Moves a run from the trash to where it was.

    Args:
        project: Where it is kept.
        removed: The run.
        name: What it is called from now on; as before if not given.

    Raises:
        RunNumberTaken: There is another run with its id.
        StudyNameTaken: It is a study, and there is another one of this name.
        CorruptRecord: It is to have a name, and its record cannot be read.
    """
    target, source = run_paths(project, removed.id).folder, removed.paths(project).folder
    if project.exists(target):
        raise RunNumberTaken(str(removed.id))
    _check_name(project, removed, name or removed.name)
    if name is not None:
        _rename(project, removed, name)
    project.move(source, target)
    while (source := source.rpartition("/")[0]) != project.layout.trash:
        with suppress(FolderNotEmpty, PathNotFound):  # a store without folders has none to remove
            project.remove(source)


def _check_name(project: Project, removed: RemovedRun, name: str) -> None:
    """Checks that no other study has the name that a removed one is to have."""
    if removed.record is None or not project.exists(removed.paths(project).study):
        return
    for other in list_studies(project, lambda study: study.name == name):
        raise StudyNameTaken(str(removed.id), name, str(other.id))


def _rename(project: Project, removed: RemovedRun, name: str) -> None:
    path = removed.paths(project).record
    record = decode(RunRecord, project.read(path), path)
    project.put(path, encode_file(replace(record, name=name)))


def list_trash(project: Project) -> list[RemovedRun]:
    """Returns the runs in the trash, those removed last first."""
    found = [
        RemovedRun(id=run_id, when=when, record=_record(project, _paths(project, when, run_id)))
        for when in filter(_WHEN_NAME.fullmatch, _folders(project, project.layout.trash))
        for run_id in _runs_below(project, f"{project.layout.trash}/{when}")
    ]
    return sorted(found, key=lambda removed: (removed.when, removed.id), reverse=True)


def find_removed(project: Project, text: str) -> RemovedRun:
    """Returns the run in the trash that a user means: by its id, the end of its id, or its name.

    Of several removed runs with the same id it is the one that was removed last.

    Raises:
        NotInTrash: None answers to `text`.
        AmbiguousRun: Several do.
    """
    newest: dict[RunId, RemovedRun] = {}
    for removed in list_trash(project):
        if text and (text == removed.name or str(removed.id).endswith(text)):
            newest.setdefault(removed.id, removed)
    exact = [each for each in newest.values() if text == each.name or f"/{each.id}".endswith(f"/{text}")]
    candidates = exact or list(newest.values())
    if not candidates:
        raise NotInTrash(text, project.path)
    if len(candidates) > 1:
        raise AmbiguousRun(text, tuple(f"{each.id} ({each.name})" for each in candidates))
    return candidates[0]


def _runs_below(project: Project, folder: str) -> Iterator[RunId]:
    for app_id in _folders(project, folder):
        for kind in _folders(project, f"{folder}/{app_id}"):
            for name in _folders(project, f"{folder}/{app_id}/{kind}"):
                number = run_number(name)
                if number is not None:
                    yield RunId(app_id, kind, number)


def _folders(project: Project, folder: str) -> list[str]:
    try:
        return [entry.name for entry in project.list(folder) if entry.is_dir]
    except PathNotFound:
        return []


def _paths(project: Project, when: str, run_id: RunId) -> RunPaths:
    return project.layout.removed(when, run_id.app_id, run_id.kind, run_id.number)


def _record(project: Project, paths: RunPaths) -> RunRecord | None:
    try:
        return decode(RunRecord, project.read(paths.record), paths.record)
    except (PathNotFound, CorruptRecord):
        return None
