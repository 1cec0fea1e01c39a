"""Runs one node in a supervised child process, on whatever host this is."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hopyard.cluster.child import Child, Exit
from hopyard.cluster.entry import PAYLOAD_FILE
from hopyard.cluster.execution import Report
from hopyard.cluster.keeper import Keeper
from hopyard.cluster.lease import lease_of
from hopyard.cluster.node import NodeTask, child_environment
from hopyard.cluster.outcome import Outcome
from hopyard.scratch import scratch_folder
from hopyard.tracking import NodeOutcome, NodeState


class Supervisor:
    """Runs a node to its end; another thread may ask for that end."""

    def __init__(self, task: NodeTask) -> None:
        self.task = task
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._stop_reason: str | None = None

    def run(self) -> Outcome:
        """Runs the node and stores what it leaves; failures come back as a value, also the supervisor's own."""
        started = time.time()
        try:
            return self._run(started)
        except Exception as error:  # noqa: BLE001  the edge of a Spark task, which Spark would try again
            failed = replace(
                self.task.finished(started),
                state=NodeState.FAILED,
                exit_code=None,
                error_type=type(error).__name__,
                message=f"its supervisor could not go on ({type(error).__name__}: {error})",
                traceback=traceback.format_exc(),
            )
            return Outcome(record=failed)

    def _run(self, started: float) -> Outcome:
        with ExitStack() as resources:
            scratch = resources.enter_context(scratch_folder("node"))
            logdir = scratch / "logdir"
            logdir.mkdir()
            (scratch / PAYLOAD_FILE).write_bytes(self.task.payload)
            lease = resources.enter_context(lease_of(self.task, self.stop))
            keeper = Keeper(self.task, logdir)
            with keeper:
                ended = self._run_child(scratch, keeper)
            report = Report.read(scratch)
            record = self._record(started, ended, report)
            # before the files are stored, which may take long: the others are not to wait for that
            lease.tell(record)
            record = keeper.close(record)
        return Outcome(record=record, value=report.value if report else None)

    def stop(self, reason: str = "the driver said so") -> None:
        """Asks the node to end, and keeps it from starting if it has not."""
        with self._lock:
            self._stop_reason = self._stop_reason or reason
            if self._child is not None:
                self._child.stop()

    def _run_child(self, scratch: Path, keeper: Keeper) -> Exit | None:
        child = Child(
            [sys.executable, "-m", "hopyard.cluster.entry", str(scratch)],
            on_line=keeper.line,
            on_message=keeper.message,
            env=child_environment(self.task, keeper.logdir),
            scratch=scratch,
        )
        with self._lock:
            if self._stop_reason is not None:
                return None
            child.start()
            self._child = child
        try:
            return child.wait()
        finally:
            child.close()

    def _record(self, started: float, ended: Exit | None, report: Report | None) -> NodeOutcome:
        record = self.task.finished(started)
        if report is not None and report.failure is None:
            return record
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


def _unreported_end(ended: Exit | None) -> str:
    """Returns words for a process that ended without a report of its own."""
    if ended is None:
        return "its process never began"
    if ended.code == 0:
        return "its process ended with exit code 0 before the function returned (os._exit?)"
    return f"its process {ended}"
