"""Trials that failed, as programs of the Hops library hear of them: as an exception."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hopyard.codec.records import decode
from hopyard.errors import NodeFailed, PathNotFound
from hopyard.store import Project
from hopyard.tracking import RunId, RunReader, TrialRecord, TrialState, run_paths

if TYPE_CHECKING:
    from hopyard.search.study.study import Study

LOG = logging.getLogger(__name__)
TAIL_LINES = 30


def raise_failed(study: Study, *, most: int) -> None:
    """Raises the failure of the first trial that failed if more than so many did; otherwise logs how many.

    Raises:
        NodeFailed: With the function's traceback and the last lines of its output.
    """
    failed = [trial for trial in study.trials if trial.state is TrialState.FAILED]
    if not failed:
        return
    if len(failed) > most:
        error = _error(study, failed[0])
        error.add_note(
            f"This is trial {failed[0].number} ({failed[0].folder}), of {len(failed)} that failed; "
            f"the other {len(study.trials) - len(failed)} are in {study.logdir}."
        )
        raise error
    LOG.warning(
        "%d of %d trials of %s failed, the first one: %s",
        len(failed),
        len(study.trials),
        study.run_id,
        failed[0].error,
    )


def _error(study: Study, trial: TrialRecord) -> NodeFailed:
    project, run_id = Project.open(), RunId.parse(f"{study.run_id}/{trial.folder}")
    trace = _traceback(project, run_id)
    tail = tuple(RunReader(project, run_id).log(tail=TAIL_LINES))
    return NodeFailed(0, "chief", trial.host, trial.error or "", trace, tail)


def _traceback(project: Project, run_id: RunId) -> str:
    """Returns the traceback of a trial; a trial whose executor was lost has left none."""
    path = run_paths(project, run_id).trial_record
    try:
        return decode(TrialRecord, project.read(path), path).traceback or ""
    except PathNotFound:
        return ""
