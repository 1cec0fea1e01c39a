"""The study that an earlier driver left: whether that driver is gone."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from hopyard.errors import JournalTaken, PathNotFound, StudyBusy
from hopyard.store import Journal, Project
from hopyard.tracking import RunReader, RunRecord, RunState, run_paths
from hopyard.tracking.age import age_of
from hopyard.tracking.driver_process import DriverProcess

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOwner:
    """The driver that writes the journal of a study, where its store has no locks.

    Attributes:
        driver: The process; None if that is not known.
        attempt: How often the study had been started before.
    """

    driver: DriverProcess | None
    attempt: int

    @classmethod
    def read(cls, stored: str | bytes) -> Self:
        """Returns the owner that a file tells of."""
        try:
            match json.loads(stored):
                case {"driver": dict(driver), "attempt": int(attempt)}:
                    return cls(driver=DriverProcess.from_json(driver), attempt=attempt)
        except ValueError:
            LOG.debug("no owner of a journal: %r", stored)
        return cls(driver=None, attempt=sys.maxsize)

    def to_bytes(self) -> bytes:
        """Returns it as a file keeps it."""
        driver = {} if self.driver is None else self.driver.to_json()
        return json.dumps({"driver": driver, "attempt": self.attempt}).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class IsLeft:
    """Tells of the owner of a study's journal whether it is gone.

    Attributes:
        project: Where the study is kept.
        record: The study, whose driver was found to be gone.
        age: Returns how many seconds ago a file was written, by the clock of its store.
    """

    project: Project
    record: RunRecord
    age: Callable[[Project, str], float] = age_of

    def __call__(self, path: str, stored: bytes) -> bool:
        """Returns whether the owner that a file tells of is gone."""
        owner = JournalOwner.read(stored)
        if owner.attempt < self.record.attempts:
            return True  # it is, or was before, the driver of the record
        lives = None if owner.driver is None else owner.driver.lives()
        if lives is not None:
            return not lives
        try:
            return self.age(self.project, path) > self.record.seconds_until_lost
        except PathNotFound:  # another one follows it just now
            return False


def open_journal(project: Project, record: RunRecord, *, attempt: int) -> Journal:
    """Returns the journal of a study, which nobody else can write from now on.

    Args:
        project: Where it is kept.
        record: The study.
        attempt: How often it was started before.

    Raises:
        StudyBusy: Another driver is at it.
    """
    path = run_paths(project, record.id).study_journal
    owner = JournalOwner(driver=DriverProcess.this(), attempt=attempt)
    try:
        return Journal(project, path, owner=owner.to_bytes(), is_left=IsLeft(project=project, record=record))
    except JournalTaken as taken:
        other = JournalOwner.read(taken.owner).driver
        raise busy(project, record, other) from None


def busy(project: Project, record: RunRecord, driver: DriverProcess | None = None) -> StudyBusy:
    """Returns the error that says who is at a study: the driver of its record, if no other one is known."""
    driver = driver or record.driver_process
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
