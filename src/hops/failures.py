"""Trials that failed, as programs of the Hops library hear of them: as an exception."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hopyard.cluster.outcome import failure
from hopyard.errors import NodeFailed
from hopyard.store import Project
from hopyard.tracking import NodeState, RunId, RunReader, TrialState

if TYPE_CHECKING:
    from hopyard.search.study import Study
    from hopyard.tracking import TrialRecord

LOG = logging.getLogger(__name__)


def raise_failed(study: Study, *, most: int) -> None:
    """Raises the failure of the first trial that failed if more than so many did; otherwise logs how many.

    Raises:
        NodeFailed: With the function's traceback and the last lines of its output.
    """
    failed = [trial for trial in study.trials if trial.state is TrialState.FAILED]
    if not failed:
        return
    if len(failed) > most:
        raise _error(study, failed)
    LOG.warning(
        "%d of %d trials of %s failed, the first one: %s",
        len(failed),
        len(study.trials),
        study.run_id,
        failed[0].error,
    )


def _error(study: Study, failed: list[TrialRecord]) -> NodeFailed:
    first = failed[0]
    reader = RunReader(Project.open(), RunId.parse(f"{study.run_id}/{first.folder}"))
    ends = [end for end in reader.outcomes() if end.state is not NodeState.FINISHED]
    error = failure(ends[0]) if ends else NodeFailed(0, "chief", first.host, first.error or "", "", ())
    error.add_note(
        f"This is trial {first.number} ({first.folder}), of {len(failed)} that failed; "
        f"{len(study.trials) - len(failed)} others are in {study.logdir}."
    )
    return error
