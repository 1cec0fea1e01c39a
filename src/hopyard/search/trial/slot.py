"""A place where one trial runs at a time: asks the driver for trials and runs them until it is told to leave."""

from __future__ import annotations

import logging
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from hopyard.errors import DriverOutOfReach
from hopyard.protocol.messages import AskTrial, Left, Message, ReportTrial, Verdict
from hopyard.store import Project
from hopyard.tracking import RunId, TrialRecord
from hopyard.worker.driver_link import OUT_OF_REACH, Link
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.lease import Lease

if TYPE_CHECKING:
    from hopyard.protocol.assignment import Assignment
    from hopyard.protocol.messages import Point
    from hopyard.protocol.node_status import Heartbeat
    from hopyard.tensorboard.hparams import StudyEvents

LOG = logging.getLogger(__name__)
CALL_SECONDS = 20.0  # a sampler may take its time for the next trial
RETRY_SECONDS = 0.5
A = TypeVar("A")
Judge = Callable[[Sequence["Point"]], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotOrders:
    """What all slots of a study have in common; it travels to the executors.

    Attributes:
        run_id: The study's run.
        study: The study's name, for people.
        project: Where it is kept.
        payload: What each trial runs, pickled.
        objectives: The names of what is compared.
        search_path: Where the driver finds modules; what exists here too is used.
        environment: Variables for the trials' processes.
        lease_seconds: How long the driver may be out of reach.
        trial_seconds: How long a trial may take; None for no limit.
        isolate: Whether each trial gets a process of its own.
        is_judged: Whether trials are told if what they report is hopeless.
        devices: The GPUs of each slot.
        sync_seconds: How often a trial's log folder is copied to the project.
        events: Tells TensorBoard of parameters and values; None where nobody is to be told.
    """

    run_id: RunId
    study: str
    project: Project
    payload: bytes = field(repr=False)
    objectives: tuple[str, ...]
    search_path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    lease_seconds: float = 30.0
    trial_seconds: float | None = None
    isolate: bool = False
    is_judged: bool = False
    devices: DeviceRequest = field(default_factory=DeviceRequest)
    sync_seconds: float = 10.0
    events: StudyEvents | None = None


class Trials(Protocol):
    """How a slot runs trials: in a process that is kept for the next one, or each as a cluster."""

    def run(self, assignment: Assignment, judge: Judge) -> TrialRecord | None:
        """Runs a trial; returns what came of it, which is stored by then, or None if it was cut short.

        A record that says WAITING is of a trial that was lost with an executor, and is to run again.
        """

    def stop(self, reason: str) -> None:
        """Ends the trial that runs, and keeps others from starting."""

    def sign(self) -> Heartbeat:
        """Returns what the driver is told of the trial that runs."""

    def show_life(self) -> None:
        """Tells whatever watches over the trial that the slot goes on."""


class Slot:
    """Runs trials; its lease, or another thread, may ask for its end.

    Args:
        number: Which slot it is.
        link: The way to the driver.
        trials: How it runs them.
        lease_seconds: How long the driver may be out of reach.
    """

    def __init__(self, number: int, link: Link, trials: Trials, *, lease_seconds: float) -> None:
        self._number = number
        self._link = link
        self._trials = trials
        self._incarnation = uuid.uuid4().hex
        self._lease = Lease(
            link,
            number,
            incarnation=self._incarnation,
            seconds=lease_seconds,
            holder=self,
            on_renew=trials.show_life,
        )
        self._over = threading.Event()
        self._reason = ""

    def run(self) -> int:
        """Runs trials until the driver says that there are no more; returns how many.

        Raises:
            DriverOutOfReach: There is nobody to ask, or to tell.
        """
        with self._lease:
            count = self._run_trials()
        if not self._over.is_set():
            self._ask(self._left())
        elif self._lease.holds:  # told to end, perhaps between its last question and this
            self._lease.leave()
        else:  # a failure: Spark starts the slot again, and the driver may be back then
            raise DriverOutOfReach("its address", self._reason)
        return count

    def stop(self, reason: str) -> None:
        """Ends the slot and the trial that it runs."""
        LOG.info("slot %d ends: %s", self._number, reason)
        self._reason = reason
        self._over.set()
        self._trials.stop(reason)

    def release(self, grace_seconds: float) -> None:
        """Does nothing: a slot is told to leave when it asks for its next trial."""

    def sign(self) -> Heartbeat:
        """Returns what the driver is told with each renewal of the lease."""
        return self._trials.sign()

    def _run_trials(self) -> int:
        count, host = 0, socket.gethostname()
        ended: TrialRecord | None = None
        while True:
            answer = self._ask(
                AskTrial(number=self._number, incarnation=self._incarnation, host=host, ended=ended)
            )
            ended = None
            if answer is None or answer.leave is not None:
                return count
            if answer.trial is None:
                if self._over.wait(answer.again):
                    return count
                continue
            ended = self._trials.run(answer.trial, partial(self._judge, answer.trial.number))
            if self._over.is_set() and ended is None:
                return count
            count += ended is not None

    def _judge(self, trial: int, points: Sequence[Point]) -> Verdict:
        """Brings values of a trial to the driver; returns its verdict. That nobody answers is none on the trial."""
        try:
            answer = self._ask(
                ReportTrial(
                    number=self._number,
                    incarnation=self._incarnation,
                    trial=trial,
                    points=tuple(points),
                )
            )
        except DriverOutOfReach as error:  # what has ended is stored all the same; the next call raises again
            LOG.info("slot %d could not bring what trial %d reported: %s", self._number, trial, error)
            return Verdict.DROP
        return Verdict.DROP if answer is None else answer.verdict

    def _left(self) -> Left:
        return Left(number=self._number, incarnation=self._incarnation)

    def _ask(self, message: Message[A]) -> A | None:
        """Returns the driver's answer; None once the slot is to end.

        Raises:
            DriverOutOfReach: It has been silent for too long.
        """
        while not self._over.is_set():
            try:
                return self._link.ask(message)
            except OUT_OF_REACH as error:
                if not self._lease.holds:
                    raise DriverOutOfReach(error.peer, str(error)) from error
                self._over.wait(RETRY_SECONDS)
        return None
