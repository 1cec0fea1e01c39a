"""One trial on a slot: from its assignment to its record, stored in its own folder."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.codec.records import encode_file
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.plan import Plan
from hopyard.search.trial.listener import TrialListener
from hopyard.search.trial.order import Ending, TrialOrder
from hopyard.tracking import NodeState, TrialRecord, TrialState, run_paths
from hopyard.worker.checkpoints import Checkpoints
from hopyard.worker.recorder import NodeRecorder
from hopyard.worker.task import NodePlace, NodeTask

if TYPE_CHECKING:
    from hopyard.search.trial.process import TrialProcess
    from hopyard.search.trial.slot import Judge, SlotOrders
    from hopyard.tensorboard.hparams import EventFile

ALONE = Plan.of(1)
NOT_STORED = "FilesNotStored"
_NODE_STATES = {
    TrialState.FINISHED: NodeState.FINISHED,
    TrialState.PRUNED: NodeState.FINISHED,
    TrialState.FAILED: NodeState.FAILED,
}


class TrialRun:
    """Runs one trial in a slot's process and stores what it leaves.

    Args:
        orders: What all trials have in common.
        assignment: The trial.
        folder: A scratch folder of the slot, for one trial at a time: to make and remove one takes milliseconds.
        slot: Number of the slot.
    """

    def __init__(self, orders: SlotOrders, assignment: Assignment, folder: Path, *, slot: int) -> None:
        self._orders = orders
        self._assignment = assignment
        self._folder = folder
        self._slot = slot
        self._recorder: NodeRecorder | None = None
        self._recording = threading.Lock()
        self._events: EventFile | None = None
        self._is_shown = False
        self._task = NodeTask(
            node=ALONE.nodes[0],
            plan=ALONE,
            run_id=replace(orders.run_id, trial=assignment.folder),
            project=orders.project,
            payload=b"",
            attempt=assignment.attempt,
            sync_seconds=orders.sync_seconds,
            trial=assignment.number,
            is_judged=orders.is_judged,
        )
        self._paths = run_paths(orders.project, self._task.run_id)

    def run(self, process: TrialProcess, judge: Judge) -> TrialRecord | None:
        """Returns what came of the trial, which is stored by then; None if it was cut short, which leaves no record."""
        started = time.time()
        checkpoints = Checkpoints(self._task, self._folder)
        place = NodePlace(
            scratch=self._folder, checkpoints=checkpoints.folder, members=ClusterMap(by_role={})
        )
        _tidy(self._folder, place.logdir, place.temporary)
        checkpoints.fetch()
        order = TrialOrder(
            arguments=self._assignment.arguments,
            environment={**self._task.variables(place), "TMPDIR": str(place.temporary)},
            folder=str(self._folder),
            token=uuid.uuid4().hex,
        )
        self._recorder = recorder = NodeRecorder(self._task, place.logdir, checkpoints)
        if self._orders.events is not None:
            self._events = self._orders.events.begin(params=self._assignment.params, started=started)
        listener = TrialListener(order.token, recorder, judge=judge, answer=process.answer)
        ending = process.run(order, listener, self._orders.trial_seconds)
        if ending is None or listener.is_dropped:
            self._forget()
            return None
        if ending.left:
            recorder.line(f"[hopyard] the trial left {ending.left}: its process is replaced".encode())
        record = self._record(ending, started, listener)
        with self._recording:
            self._recorder = None
            return self._store(recorder, record)

    def _forget(self) -> None:
        """Stores nothing more of the trial."""
        with self._recording:
            self._recorder = None

    def do_chores(self) -> None:
        """Stores what is due; called now and then by another thread while the trial runs."""
        with self._recording:
            if self._recorder is None:
                return
            for chore in self._recorder.chores:
                chore.run_if_due()
            if self._events is not None and not self._is_shown:
                self._is_shown = True
                self._show(self._events)

    def sign(self) -> Heartbeat:
        """Returns what the driver is told of the trial while it runs."""
        return Heartbeat() if self._recorder is None else self._recorder.sign()

    def _record(self, ending: Ending, started: float, listener: TrialListener) -> TrialRecord:
        stopped = listener.is_told and ending.state is TrialState.FINISHED
        return TrialRecord(
            number=self._assignment.number,
            params=self._assignment.params,
            state=TrialState.PRUNED if stopped else ending.state,
            values=ending.values,
            result=ending.result,
            returned_as=ending.returned_as,
            never_asked=listener.is_hopeless and not listener.has_asked,
            folder=self._assignment.folder,
            attempt=self._assignment.attempt,
            slot=self._slot,
            host=socket.gethostname(),
            started=started,
            ended=time.time(),
            error_type=ending.error_type,
            error=ending.error,
            traceback=ending.traceback,
        )

    def _store(self, recorder: NodeRecorder, record: TrialRecord) -> TrialRecord:
        """Stores all that the trial leaves, its record last; returns the record as it was stored."""
        assert record.started is not None
        outcome = replace(
            self._task.finished(record.started),
            state=_NODE_STATES[record.state],
            error_type=record.error_type,
            message=record.error,
            traceback=record.traceback,
        )
        stored = recorder.close(outcome)
        if stored.state is NodeState.FAILED and record.state is not TrialState.FAILED:
            record = with_files_elsewhere(record, stored.message)
        try:
            if self._events is not None:
                values = dict(zip(self._orders.objectives, record.values, strict=False))
                ok = record.state is not TrialState.FAILED
                events = self._events.end(values, ok=ok, ended=record.ended or time.time())
                self._show(events)
            if record.value is not None:
                self._orders.project.put(self._paths.metric, str(record.value).encode())
            self._orders.project.put(self._paths.trial_record, encode_file(record))
        except OSError as error:
            record = with_files_elsewhere(record, record.error or f"its record could not be stored: {error}")
        return record

    def _show(self, events: EventFile) -> None:
        """Lets TensorBoard see the trial."""
        self._orders.project.put(f"{self._paths.folder}/{events.name}", events.data)


def _tidy(folder: Path, *inner: Path) -> None:
    """Makes a folder hold nothing but these folders, empty, as a trial expects it."""
    folder.mkdir(exist_ok=True)
    missing = {path.name for path in inner}
    for entry in os.scandir(folder):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
        elif entry.name in missing and not any(os.scandir(entry.path)):
            missing.remove(entry.name)
        else:
            # aside first: what a trial has left running, or has locked, must not be in the way of the next one
            aside = folder.with_name(f"{folder.name}.{uuid.uuid4().hex}")
            os.rename(entry.path, aside)
            shutil.rmtree(aside, ignore_errors=True)
    for name in missing:
        os.mkdir(folder / name)


def with_files_elsewhere(record: TrialRecord, reason: str | None) -> TrialRecord:
    """Returns the record of a trial whose files are not in the project; its values count: they go to the driver."""
    return replace(record, error_type=record.error_type or NOT_STORED, error=reason)
