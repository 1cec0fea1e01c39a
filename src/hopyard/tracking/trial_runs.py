"""A trial as readers of runs see it: a run with one node, kept alive by the driver of its study."""

from __future__ import annotations

from dataclasses import replace

from hopyard.errors import PathNotFound
from hopyard.store import Project
from hopyard.tracking.codec import decode
from hopyard.tracking.node_log import log_attempts
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
    try:
        trial = decode(TrialRecord, project.read(paths.trial_record), paths.trial_record)
    except PathNotFound:
        return replace(run, attempts=last + 1)
    if trial.attempt < last:
        return replace(run, attempts=last + 1)
    return replace(
        run,
        state=RunState.FAILED if trial.state is TrialState.FAILED else RunState.FINISHED,
        started=trial.started or study.started,
        ended=trial.ended,
        error=trial.error,
        attempts=trial.attempt + 1,
    )
