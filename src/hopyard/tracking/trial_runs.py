"""A trial as readers of runs see it: a run with one node, kept alive by the driver of its study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hopyard.codec.records import decode
from hopyard.errors import PathNotFound
from hopyard.store import Project
from hopyard.tracking.logs.node_log import log_attempts
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import RunRecord, TrialRecord
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import RunState, TrialState


def trial_as_run(project: Project, run_id: RunId) -> RunRecord:
    """Returns what the record of a run would say of a trial that has none of its own.

    A trial's own record is written at its end. Until then, and while it is tried again, it is as alive as its study.

    Raises:
        PathNotFound: There is no such trial, or it is in no study.
        CorruptRecord: A record cannot be understood.
    """
    paths = run_paths(project, run_id)
    if not project.is_dir(paths.folder):
        raise PathNotFound(paths.folder)
    study_path = run_paths(project, replace(run_id, trial="")).record
    study = decode(RunRecord, project.read(study_path), study_path)
    last = max(log_attempts(project, paths, 0), default=0)
    run = replace(study, id=run_id, nodes=1, roles=(), details={}, restarts=(), error=None, value=None)
    trial = trial_record(project, run_id)
    if trial is None or trial.attempt < last:
        return replace(run, attempts=last + 1)
    return replace(
        run,
        state=RunState.FAILED if trial.state is TrialState.FAILED else RunState.FINISHED,
        started=trial.started or study.started,
        ended=trial.ended,
        error=trial.error,
        value=None if trial.value is None else repr(trial.value),
        attempts=trial.attempt + 1,
    )


def trial_record(project: Project, run_id: RunId | str) -> TrialRecord | None:
    """Returns the record of a trial; None if the run is none, or the trial has not ended.

    Raises:
        CorruptRecord: It cannot be understood.
    """
    path = run_paths(project, run_id).trial_record
    try:
        return decode(TrialRecord, project.read(path), path) if RunId.of(run_id).trial else None
    except PathNotFound:
        return None


def parameters_of(project: Project, run: RunRecord) -> Mapping[str, Any]:
    """Returns what a run's function was called with, as far as it was kept: for a trial, its parameters."""
    if run.id.trial:
        trial = trial_record(project, run.id)
        return {} if trial is None else trial.params
    kept = run.details.get("parameters")
    return kept if isinstance(kept, Mapping) else {}
