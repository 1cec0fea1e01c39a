"""The study that an earlier driver left: whether that driver is gone."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from hopyard.errors import StudyBusy
from hopyard.store import Project
from hopyard.tracking import RunReader, RunRecord, RunState, run_paths
from hopyard.tracking.age import age_of

LOG = logging.getLogger(__name__)
POLL_SECONDS = 1.0


def await_its_driver(
    project: Project,
    record: RunRecord,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] | None = None,
) -> RunRecord:
    """Returns the record of a study once no driver is at it any more.

    Where a store can lock, the study's journal is locked by its driver, so there is nothing to wait for. On other stores a
    driver on this machine is looked for, and one on another machine is known to be dead by the heartbeats that it
    misses. Their times are not compared with the clock of this machine, which may differ.

    Args:
        project: Where it is kept.
        record: The study.
        clock: Seconds that only grow.
        pause: Lets some seconds pass; waits if not given.

    Raises:
        StudyBusy: Its driver lives.
    """
    if project.capabilities.can_lock or record.state is not RunState.RUNNING:
        return record
    driver = record.driver_process
    lives = None if driver is None else driver.lives()
    if lives:
        raise busy(project, record)
    if lives is None:
        return _await_silence(project, record, clock, pause or threading.Event().wait)
    return record


def busy(project: Project, record: RunRecord) -> StudyBusy:
    """Returns the error that says who is at a study."""
    driver = record.driver_process
    seconds = age_of(project, run_paths(project, record.id).record)
    return StudyBusy(str(record.id), str(driver or f"a program of {record.user}"), seconds, 0.0)


def _await_silence(
    project: Project, record: RunRecord, clock: Callable[[], float], pause: Callable[[float], object]
) -> RunRecord:
    seconds = record.seconds_until_lost - age_of(project, run_paths(project, record.id).record)
    end, updated = clock() + seconds, record.updated
    if seconds > 0:
        LOG.warning(
            "waiting %.0f s for a sign of life of the driver of %s, %s",
            seconds,
            record.id,
            record.driver_process or "an unknown process",
        )
    while clock() < end:
        pause(POLL_SECONDS)
        record = RunReader(project, record.id).record()
        if record.state is not RunState.RUNNING:
            break
        if record.updated != updated:
            raise busy(project, record)
    return record
