"""Runs one node in a supervised child process, on whatever host this is."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from hopyard.errors import DriverOutOfReach, HopyardError, RootUnusable, StoreUnreachable, TooFewGpus
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.outcome import Outcome
from hopyard.scratch import scratch_folder
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.worker.checkpoints import Checkpoints
from hopyard.worker.child import Child, Exit
from hopyard.worker.detach.lost_outcome import undelivered_outcome
from hopyard.worker.driver_link import Link, deliver
from hopyard.worker.entry import PAYLOAD_FILE, REPORT_VARIABLE
from hopyard.worker.execution import Report
from hopyard.worker.gpus.request import claim
from hopyard.worker.lease import Lease, longest_silence
from hopyard.worker.ports import HeldPort, hold_port, is_listened_at
from hopyard.worker.recorder import NodeRecorder
from hopyard.worker.task import NodePlace, NodeTask, child_environment
from hopyard.worker.work import LOOPBACK


class Supervisor:
    """Runs a node to its end; its lease, or another thread, may ask for that end.

    Args:
        task: The node.
        link: The way to the driver.
        address: At which the other nodes reach this host.
        gpus: The GPUs that Spark gave to the task; None where Spark gives none.
        incarnation: What tells this start of the node from another one; made up if not given.
        is_remote: Whether the driver is another process, which may vanish.
        is_orphan: See `Lease`.
    """

    def __init__(
        self,
        task: NodeTask,
        link: Link,
        *,
        address: str = LOOPBACK,
        gpus: Sequence[str] | None = None,
        incarnation: str = "",
        is_remote: bool = True,
        is_orphan: Callable[[], bool] = lambda: False,
    ) -> None:
        self.task = task
        self._address = address
        self._gpus = gpus
        self._is_remote = is_remote
        self._link = link
        self._incarnation = incarnation or uuid.uuid4().hex
        self._lease = Lease(
            link,
            task.node.rank,
            incarnation=self._incarnation,
            seconds=task.lease_seconds,
            holder=self,
            is_orphan=is_orphan,
            on_renew=self._show_life,
        )
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._recorder: NodeRecorder | None = None
        self._place: NodePlace | None = None
        self._stop_reason: str | None = None
        self._timer: threading.Timer | None = None
        self._released = 0.0
        self._grace_seconds: float | None = None
        self._ended_in_peace = False

    def run(self) -> Outcome:
        """Runs the node, stores what it leaves and returns what came of it, which the driver has then.

        Failures are outcomes, too, also the supervisor's own.

        Raises:
            DriverOutOfReach: There is nobody to give a value to.
        """
        started = time.time()
        try:
            return self._run(started)
        except DriverOutOfReach:
            raise
        except Exception as error:  # noqa: BLE001  the edge of a Spark task, which Spark would try again
            is_plain = isinstance(error, (StoreUnreachable, RootUnusable, TooFewGpus))
            text = f"its supervisor could not go on ({type(error).__name__}: {error})"
            failed = replace(
                self.task.finished(started),
                state=NodeState.FAILED,
                exit_code=None,
                error_type=type(error).__name__,
                message=str(error) if is_plain else text,
                traceback="" if is_plain else traceback.format_exc(),
            )
            self._lease.tell(failed)
            outcome = self._hand_over(Outcome(record=failed))
            self._lease.leave()
            return outcome

    def stop(self, reason: str = "the driver said so") -> None:
        """Asks the node to end, and keeps it from starting if it has not; the first reason counts."""
        with self._lock:
            if self._stop_reason is None:
                self._stop_reason = reason
                self._end_child()

    def release(self, grace_seconds: float) -> None:
        """Lets the node end by itself within some seconds, and ends it then: the run is done."""
        with self._lock:
            if self._child is None or self._place is None or grace_seconds == self._grace_seconds:
                return
            if self._timer is None:
                self._place.stop_file.touch()
                self._released = time.monotonic()
            else:
                self._timer.cancel()
            left = self._released + grace_seconds - time.monotonic()
            self._grace_seconds = grace_seconds
            self._timer = threading.Timer(min(max(0.0, left), threading.TIMEOUT_MAX), self._end_in_peace)
            self._timer.daemon = True
            self._timer.start()

    def sign(self) -> Heartbeat:
        """Returns what the driver is told with each renewal of the lease."""
        return Heartbeat() if self._recorder is None else self._recorder.sign()

    def _run(self, started: float) -> Outcome:
        # When a run begins, its store is there, or it is the wrong one. Later it may be out for a while.
        self.task.project.reach(patiently=self.task.attempt > 0 or self.task.trial >= 0)
        with ExitStack() as resources:
            scratch = resources.enter_context(scratch_folder("node"))
            devices = resources.enter_context(claim(self.task.devices, given=self._gpus))
            port = resources.enter_context(hold_port(self.task.ports))
            members = self._lease.join(f"{self._address}:{port.number}", socket.gethostname())
            if members is None:
                return self._never_began(started)
            with (
                self._lease
            ):  # before the preparations, which may take longer than the driver waits for a sign
                checkpoints = Checkpoints(self.task, scratch)
                checkpoints.fetch()
                self._place = place = NodePlace(
                    scratch=scratch, checkpoints=checkpoints.folder, members=members, port=port.fileno()
                )
                self._recorder = recorder = self._prepare(place, checkpoints, resources)
                with recorder:
                    memory = os.memfd_create("hopyard-report")
                    resources.callback(os.close, memory)
                    ended = self._run_child(place, devices, port, memory)
                    report = Report.read(scratch) or Report.read_from_memory(memory)
                    record = self._record(started, ended, report)
                    if record.state is NodeState.FAILED:  # nothing of the node is left that could listen
                        record = replace(record, port_taken=is_listened_at(port.number))
                    # before the files are stored, which may take long: the others are not to wait for that
                    self._lease.tell(record)
                record = recorder.close(record, report)
                outcome = self._hand_over(Outcome(record=record, value=_value(report)))
        self._lease.leave()
        return outcome

    def _prepare(self, place: NodePlace, checkpoints: Checkpoints, resources: ExitStack) -> NodeRecorder:
        """Makes all ready that the node's process needs, and starts what runs beside it."""
        place.logdir.mkdir()
        place.temporary.mkdir()
        (place.scratch / PAYLOAD_FILE).write_bytes(self.task.payload)
        recorder = NodeRecorder(self.task, place.logdir, checkpoints)
        for companion in self.task.companions if self.task.node.rank == 0 else ():
            resources.enter_context(companion(place.logdir, recorder.announce))
        if self.task.attempt:
            recorder.line(f"[hopyard] attempt {self.task.attempt} begins".encode())
        return recorder

    def _never_began(self, started: float) -> Outcome:
        record = self._record(started, None, None)
        self._lease.tell(record)
        outcome = self._hand_over(Outcome(record=record))
        self._lease.leave()
        return outcome

    def _hand_over(self, outcome: Outcome) -> Outcome:
        """Returns the outcome, which the driver has then; what is too much for it is told."""
        try:
            self._deliver(outcome)
        except DriverOutOfReach:
            raise
        except HopyardError as error:
            outcome = undelivered_outcome(self.task, outcome.record, str(error))
            self._deliver(outcome)
        return outcome

    def _deliver(self, outcome: Outcome) -> None:
        rank = self.task.node.rank
        deliver(self._link, rank, self._incarnation, outcome, as_long_as=lambda: self._lease.holds)

    def _run_child(
        self, place: NodePlace, devices: dict[str, str], port: HeldPort, memory: int
    ) -> Exit | None:
        assert self._recorder is not None
        child = Child(
            [sys.executable, "-m", "hopyard.worker.entry", str(place.scratch)],
            on_line=self._recorder.line,
            on_message=self._recorder.message,
            env={**child_environment(self.task, place), **devices, REPORT_VARIABLE: str(memory)},
            scratch=place.scratch,
            inherited=(place.port, memory),
            longest_silence=self._longest_silence,
        )
        with self._lock:
            if self._stop_reason is not None:
                return None
            child.start()
            self._child = child
        port.hand_over()
        try:
            return child.wait()
        finally:
            with self._lock:
                self._child = None
                if self._timer is not None:
                    self._timer.cancel()
            child.close()

    @property
    def _longest_silence(self) -> float | None:
        """After how long the node is lost to its driver; never to one that is this very process, and stops with it."""
        return longest_silence(self.task.lease_seconds) if self._is_remote else None

    def _show_life(self) -> None:
        with self._lock:
            if self._child is not None:
                self._child.show_life()

    def _end_child(self) -> None:
        """Asks the child to end; the caller holds the lock."""
        if self._child is not None:
            assert self._place is not None
            try:
                self._place.stop_file.touch()
            finally:  # a full disk must not keep a node alive
                self._child.stop()

    def _end_in_peace(self) -> None:
        with self._lock:
            self._ended_in_peace = self._child is not None
            self._end_child()

    def _record(self, started: float, ended: Exit | None, report: Report | None) -> NodeOutcome:
        record = self.task.finished(started)
        if report is not None and report.failure is None:
            return record
        if self._ended_in_peace and self._stop_reason is None:
            return replace(record, exit_code=None, message="it was ended when the training was done")
        code = ended.code if ended else None
        record = replace(
            record,
            state=NodeState.FAILED,
            exit_code=code if code is not None and code >= 0 else None,
            signal=ended.signal if ended else None,
            message=_unreported_end(ended),
        )
        if report is not None and report.failure is not None:
            failure = report.failure
            record = replace(
                record, error_type=failure.error_type, message=failure.message, traceback=failure.traceback
            )
        if self._stop_reason is not None:
            record = replace(record, state=NodeState.KILLED, message=f"it was stopped: {self._stop_reason}")
        return record


def _value(report: Report | None) -> bytes:
    """Returns the function's value; a node that was ended in peace has none, which is None."""
    return pickle.dumps(None) if report is None or report.value is None else report.value


def _unreported_end(ended: Exit | None) -> str:
    """Returns words for a process that ended without a report of its own."""
    if ended is None:
        return "its process never began"
    if ended.code == 0:
        return "its process ended with exit code 0 before the function returned (os._exit?)"
    return f"its process {ended}"
