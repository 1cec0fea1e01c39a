"""The study that an earlier driver left: whether that driver is gone."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from hopyard.errors import StudyBusy
from hopyard.store import Project
from hopyard.tracking import RunReader, RunRecord, RunState

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 1.0


def await_its_driver(
    project: Project,
    record: RunRecord,
    *,
    clock: Callable[[], float] = time.time,
    pause: Callable[[float], object] | None = None,
) -> RunRecord:
    """Returns the record of a study once no driver is at it any more.

    On a file system the study's journal is locked by its driver, so there is nothing to wait for. On other stores a
    driver that was killed is known by the heartbeats that it misses.

    Args:
        project: Where it is kept.
        record: The study.
        clock: Seconds since the epoch.
        pause: Lets some seconds pass; waits if not given.

    Raises:
        StudyBusy: Its driver lives.
    """
    if project.local_path() is not None:
        return record
    updated = record.updated
    while record.state_at(clock()) is RunState.RUNNING:
        if record.updated != updated:
            raise StudyBusy(str(record.id), clock() - record.updated)
        LOG.warning("waiting until the earlier driver of %s can be taken for dead", record.id)
        (pause or threading.Event().wait)(LOOK_SECONDS)
        record = RunReader(project, record.id).record()
    return record
