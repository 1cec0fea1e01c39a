"""Which runs a project has, and which of them a user means."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from hopyard.errors import AmbiguousRun, BadArguments, InvalidName, RunNotFound
from hopyard.store import Project
from hopyard.store.full_paths import is_full
from hopyard.tracking.paths import run_paths
from hopyard.tracking.reader import RunReader
from hopyard.tracking.run_index import (
    THREADS,
    RunIndex,
    RunListing,
    folders_in,
    map_all,
    read_run,
    runs_of_application,
)
from hopyard.tracking.runid import RunId

LAST = "last"
_NEAR = 0.75  # of a spelling; below it, names are suggested that are just another word
_CUT = "…"  # what tables put before the end of a long id


def list_runs(project: Project, *, limit: int | None = None) -> RunListing:
    """Returns the runs of a project, newest first, with one read for each; who asks again and again takes a `RunIndex`.

    A run folder without a record is none of ours: an older program made it, or its driver was killed before
    the run began.

    Args:
        project: Where to look.
        limit: How many runs at the most.
    """
    if limit is None:
        return RunIndex(project).runs()
    with ThreadPoolExecutor(THREADS) as pool:
        applications = folders_in(project, project.layout.logs)
        newest = map_all(pool, partial(runs_of_application, project, limit=limit), applications)
        run_ids = [run_id for found in newest for run_id in found]
        stored = list(map_all(pool, partial(read_run, project, time.time()), run_ids))
    if any(run.record is None and run.corrupt is None for run in stored):
        # Folders without a record took the place of runs further down, so all have to be looked at.
        everything = list_runs(project)
        return RunListing(runs=everything.runs[:limit], corrupt=everything.corrupt)
    return RunListing.of(stored, limit=limit)


def find_run(project: Project, text: str) -> RunReader:
    """Returns the run that a user means by `text`, or the trial.

    Args:
        project: Where to look.
        text: ``last`` for the newest run, an id, its start or end, a name, or the run's folder. After any of these a slash
            and the folder of one of its trials may follow.

    Raises:
        RunNotFound: No run answers to `text`.
        AmbiguousRun: Several do.
        OutsideProject: It is a full path, and not in the project.
    """
    if not isinstance(text, str):
        raise BadArguments("load_run", f"{text!r} is no text that names a run")
    text = text.removeprefix(_CUT)
    run_id = _as_id(_without_folder(project, text))
    if run_id is not None and _is_there(project, run_id):
        return RunReader(project, run_id)
    index = RunIndex(project)
    candidates = _answering(project, index, text) or _trials_answering(project, index, text)
    if not candidates:
        raise _not_found(project, index, text)
    if len(candidates) > 1:
        raise AmbiguousRun(text, tuple(f"{run_id} ({name})" for run_id, name in candidates.items()))
    return RunReader(project, *candidates)


def _without_folder(project: Project, text: str) -> str:
    """Returns what follows the folder of all runs in a path; a text that is no path is returned as it is."""
    path = project.relative(text) if is_full(text) else text.rstrip("/")
    return path.removeprefix(f"{project.layout.logs}/")


def _not_found(project: Project, index: RunIndex, text: str) -> RunNotFound:
    """Returns the error that tells what there is instead."""
    names = {str(run_id): name for run_id, name in _names(project, index.runs()).items()}
    shown = tuple(f"{run_id} ({name})" for run_id, name in names.items())
    return RunNotFound(text, project.path, near_name(text, names), shown)


def near_name(text: str, names: Mapping[str, str]) -> str | None:
    """Returns the name or id of a run that is spelled like a text; None if there is none.

    Args:
        text: What a user wrote.
        names: The names of runs by id.
    """
    near = difflib.get_close_matches(text, [*names.values(), *names], n=1, cutoff=_NEAR)
    return near[0] if near else None


def _answering(project: Project, index: RunIndex, text: str) -> dict[RunId, str]:
    """Returns the runs that `text` may mean, and their names."""
    if text == LAST:
        return {run.id: run.name for run in list_runs(project, limit=1).runs}
    return _matching(_names(project, index.runs()), text)


def _trials_answering(project: Project, index: RunIndex, text: str) -> dict[RunId, str]:
    """Returns the trials that `text` may mean, which is then a run and a folder in it, or in one of its generations."""
    parts = text.split("/")
    return {
        trial: name
        for count in (1, 2)
        if all(parts[-count - 1 :]) and len(parts) > count
        for run_id, name in _answering(project, index, "/".join(parts[:-count])).items()
        if _is_there(project, trial := replace(run_id, trial="/".join(parts[-count:])))
    }


def _is_there(project: Project, run_id: RunId) -> bool:
    """Returns whether there is a run, or a trial, which need not have a record."""
    paths = run_paths(project, run_id)
    return project.is_dir(paths.folder) if run_id.trial else project.exists(paths.record)


def _as_id(text: str) -> RunId | None:
    try:
        return RunId.parse(text)
    except InvalidName:
        return None


def _names(project: Project, listing: RunListing) -> dict[RunId, str]:
    """Returns the names of all runs by id; one with a damaged record is still there to be found by its id."""
    damaged = (
        error.path.removeprefix(f"{project.layout.logs}/").rpartition("/")[0] for error in listing.corrupt
    )
    return {run.id: run.name for run in listing.runs} | {RunId.parse(text): "damaged" for text in damaged}


def _matching(names: dict[RunId, str], text: str) -> dict[RunId, str]:
    """Returns the runs that `text` means; a name or whole parts of an id go before any end of it, and that before a start."""
    starts = {run_id: name for run_id, name in names.items() if text and str(run_id).startswith(text)}
    ends = {run_id: name for run_id, name in names.items() if text and str(run_id).endswith(text)}
    exact = {
        run_id: name for run_id, name in names.items() if name == text or str(run_id).endswith(f"/{text}")
    }
    return exact or ends or starts
