"""A place where one trial runs at a time: asks the driver for trials and runs them until it is told to leave."""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopyard.codec.records import encode_line
from hopyard.control.queue import Verdict
from hopyard.errors import DriverOutOfReach
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.node_status import Heartbeat
from hopyard.scratch import scratch_folder
from hopyard.search.study.scheduler import LEAVE, NEXT, REPORT
from hopyard.search.trial.order import PAYLOAD_FILE
from hopyard.search.trial.process import TrialProcess
from hopyard.search.trial.run import TrialRun
from hopyard.store import Project
from hopyard.tensorboard.hparams import is_installed
from hopyard.tracking import RunId, TrialRecord
from hopyard.worker.gpus.request import DeviceRequest, claim
from hopyard.worker.lease import OUT_OF_REACH, Lease, Link, longest_silence
from hopyard.worker.periodic import Periodic, PeriodicThread
from hopyard.worker.task import search_path

if TYPE_CHECKING:
    from hopyard.control.queue import Point
    from hopyard.tensorboard.hparams import StudyEvents
    from hopyard.wire import Endpoint

LOG = logging.getLogger(__name__)
CALL_SECONDS = 20.0  # a sampler may take its time for the next trial
RETRY_SECONDS = 0.5
CHORE_SECONDS = 0.5
TRIAL_FOLDER = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotOrders:
    """What all slots of a study have in common; it travels to the executors.

    Attributes:
        run_id: The study's run.
        study: The study's name, for people.
        project: Where it is kept.
        payload: What each trial runs, pickled.
        objectives: The names of what is compared.
        driver: Where to ask; None beside the driver, which is at hand.
        tls: Whether the driver is asked over TLS.
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
    payload: bytes
    objectives: tuple[str, ...]
    driver: Endpoint | None = None
    tls: bool = False
    search_path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    lease_seconds: float = 30.0
    trial_seconds: float | None = None
    isolate: bool = False
    is_judged: bool = False
    devices: DeviceRequest = field(default_factory=DeviceRequest)
    sync_seconds: float = 10.0
    events: StudyEvents | None = None


class Slot:
    """Runs trials; its lease, or another thread, may ask for its end.

    Args:
        orders: What to run.
        number: Which slot it is.
        link: The way to the driver.
        gpus: The GPUs that Spark gave to the task; None where Spark gives none.
    """

    def __init__(
        self, orders: SlotOrders, number: int, link: Link, *, gpus: Sequence[str] | None = None
    ) -> None:
        self._orders = orders if is_installed() else replace(orders, events=None)
        self._number = number
        self._link = link
        self._gpus = gpus
        self._incarnation = uuid.uuid4().hex
        self._lease = Lease(
            link,
            number,
            incarnation=self._incarnation,
            seconds=orders.lease_seconds,
            holder=self,
            on_renew=self._show_life,
        )
        self._over = threading.Event()
        self._reason = ""
        self._process: TrialProcess | None = None
        self._trial: TrialRun | None = None

    def run(self) -> int:
        """Runs trials until the driver says that there are no more; returns how many.

        Raises:
            DriverOutOfReach: There is nobody to ask, or to tell.
        """
        with ExitStack() as resources:
            scratch = resources.enter_context(scratch_folder("slot"))
            devices = resources.enter_context(claim(self._orders.devices, given=self._gpus))
            (scratch / PAYLOAD_FILE).write_bytes(self._orders.payload)
            resources.enter_context(self._lease)
            # a driver that is this very process stops with it, and takes no slot for lost
            is_remote = self._orders.driver is not None
            silence = longest_silence(self._orders.lease_seconds, CALL_SECONDS) if is_remote else None
            self._process = TrialProcess(scratch, self._environment(devices), longest_silence=silence)
            resources.callback(self._process.close)
            resources.enter_context(PeriodicThread(Periodic(self._do_chores, CHORE_SECONDS)))
            count = self._run_trials(scratch, self._process)
        if not self._over.is_set():
            self._call(LEAVE)
        elif self._lease.holds:  # told to end, perhaps between its last question and this
            self._say_that_it_leaves()
        else:  # a failure: Spark starts the slot again, and the driver may be back then
            raise DriverOutOfReach("its address", self._reason)
        return count

    def stop(self, reason: str) -> None:
        """Ends the slot and the trial that it runs."""
        LOG.info("slot %d ends: %s", self._number, reason)
        self._reason = reason
        self._over.set()
        if self._process is not None:
            self._process.stop()

    def release(self, grace_seconds: float) -> None:
        """Does nothing: a slot is told to leave when it asks for its next trial."""

    def sign(self) -> Heartbeat:
        """Returns what the driver is told with each renewal of the lease."""
        trial = self._trial
        return Heartbeat() if trial is None else trial.sign()

    def _show_life(self) -> None:
        if self._process is not None:
            self._process.show_life()

    def _do_chores(self) -> None:
        trial = self._trial
        if trial is not None:
            trial.do_chores()

    def _run_trials(self, scratch: Path, process: TrialProcess) -> int:
        count, host = 0, socket.gethostname()
        ended: TrialRecord | None = None
        while True:
            told = None if ended is None else encode_line(ended).decode()
            answer = self._call(NEXT, host=host, ended=told)
            ended = None
            if answer is None or answer["leave"] is not None:
                return count
            if answer["trial"] is None:
                if self._over.wait(float(answer["again"])):
                    return count
                continue
            ended = self._run_trial(Assignment.from_json(answer["trial"]), scratch, process)
            if self._over.is_set() and ended is None:
                return count
            count += ended is not None

    def _run_trial(self, assignment: Assignment, scratch: Path, process: TrialProcess) -> TrialRecord | None:
        """Runs a trial; returns what came of it, which is stored by then, or None if it was cut short."""
        trial = TrialRun(self._orders, assignment, scratch / TRIAL_FOLDER, slot=self._number)
        self._trial = trial
        try:
            return trial.run(process, judge=lambda points: self._judge(assignment.number, points))
        finally:
            self._trial = None
            if self._orders.isolate:
                process.close()

    def _judge(self, number: int, points: Sequence[Point]) -> Verdict:
        """Brings values of a trial to the driver; returns its verdict. That nobody answers is none on the trial."""
        told = [[step, dict(metrics)] for step, metrics in points]
        try:
            answer = self._call(REPORT, number=number, points=told)
        except DriverOutOfReach as error:  # what has ended is stored all the same; the next call raises again
            LOG.info("slot %d could not bring what trial %d reported: %s", self._number, number, error)
            answer = None
        return Verdict.DROP if answer is None else Verdict(answer["verdict"])

    def _call(self, method: str, **message: Any) -> Mapping[str, Any] | None:
        """Returns the driver's answer; None once the slot is to end.

        Raises:
            DriverOutOfReach: It has been silent for too long.
        """
        while not self._over.is_set():
            try:
                return self._link.call(
                    method, {"rank": self._number, "incarnation": self._incarnation, **message}
                )
            except OUT_OF_REACH as error:
                if not self._lease.holds:
                    raise DriverOutOfReach(getattr(error, "peer", "its address"), str(error)) from error
                self._over.wait(RETRY_SECONDS)
        return None

    def _say_that_it_leaves(self) -> None:
        try:
            self._link.call(LEAVE, {"rank": self._number, "incarnation": self._incarnation})
        except OUT_OF_REACH as error:
            LOG.info("the driver was not told that slot %d has ended: %s", self._number, error)

    def _environment(self, devices: Mapping[str, str]) -> dict[str, str]:
        """Returns the whole environment of the slot's process."""
        return {
            **os.environ,
            **self._orders.environment,
            **self._orders.project.to_env(),
            **devices,
            "PYTHONPATH": os.pathsep.join(search_path(self._orders.search_path)),
            "PYTHONUNBUFFERED": "1",
        }
