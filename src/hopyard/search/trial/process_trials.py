"""Trials in a process of this machine, one after the other; it is kept warm for the next one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hopyard.protocol.node_status import Heartbeat
from hopyard.scratch import scratch_folder
from hopyard.search.trial.order import PAYLOAD_FILE
from hopyard.search.trial.process import TrialProcess
from hopyard.search.trial.run import TrialRun
from hopyard.search.trial.slot import CALL_SECONDS, Judge, SlotOrders
from hopyard.tensorboard.hparams import is_installed
from hopyard.worker.gpus.request import claim
from hopyard.worker.lease import longest_silence
from hopyard.worker.periodic import Periodic, PeriodicThread
from hopyard.worker.task import process_environment

if TYPE_CHECKING:
    from hopyard.protocol.assignment import Assignment
    from hopyard.tracking import TrialRecord

CHORE_SECONDS = 0.5
TRIAL_FOLDER = "trial"


class ProcessTrials:
    """Runs the trials of one slot; open as a context, which holds the slot's GPUs.

    Args:
        orders: What they have in common.
        slot: Which slot.
        gpus: The GPUs that Spark gave to the task; None where Spark gives none.
        is_remote: Whether the driver is another process: one that is this very process stops with it, and takes no
            slot for lost.
    """

    def __init__(self, orders: SlotOrders, slot: int, *, gpus: Sequence[str] | None, is_remote: bool) -> None:
        self._orders = orders if is_installed() else replace(orders, events=None)
        self._slot = slot
        self._gpus = gpus
        self._is_remote = is_remote
        self._resources = ExitStack()
        self._trial: TrialRun | None = None

    def __enter__(self) -> Self:
        with ExitStack() as resources:
            self._scratch: Path = resources.enter_context(scratch_folder("slot"))
            devices = resources.enter_context(claim(self._orders.devices, given=self._gpus))
            (self._scratch / PAYLOAD_FILE).write_bytes(self._orders.payload)
            silence = longest_silence(self._orders.lease_seconds, CALL_SECONDS) if self._is_remote else None
            environment = self._environment(devices)
            self._process = TrialProcess(self._scratch, environment, longest_silence=silence)
            resources.callback(self._process.close)
            resources.enter_context(PeriodicThread(Periodic(self._do_chores, CHORE_SECONDS)))
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def run(self, assignment: Assignment, judge: Judge) -> TrialRecord | None:
        """Runs a trial; returns what came of it, which is stored by then, or None if it was cut short."""
        trial = TrialRun(self._orders, assignment, self._scratch / TRIAL_FOLDER, slot=self._slot)
        self._trial = trial
        try:
            return trial.run(self._process, judge=judge)
        finally:
            self._trial = None
            if self._orders.isolate:
                self._process.close()

    def stop(self, reason: str) -> None:  # noqa: ARG002  the slot tells it
        """Ends the trial that runs, and keeps others from starting."""
        self._process.stop()

    def sign(self) -> Heartbeat:
        """Returns what the driver is told of the trial that runs."""
        trial = self._trial
        return Heartbeat() if trial is None else trial.sign()

    def show_life(self) -> None:
        """Tells the process's warden that the slot goes on."""
        self._process.show_life()

    def _do_chores(self) -> None:
        trial = self._trial
        if trial is not None:
            trial.do_chores()

    def _environment(self, devices: Mapping[str, str]) -> dict[str, str]:
        """Returns the whole environment of the process; trials add to it."""
        own = {**os.environ, **self._orders.environment, **self._orders.project.to_env(), **devices}
        return process_environment(own, self._orders.search_path)
