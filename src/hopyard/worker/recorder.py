"""Keeps what a node leaves: its output, its metrics and its log folder, in the project, while it runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hopyard.errors import BadMessage
from hopyard.protocol.channel import Note, Reading, parse
from hopyard.protocol.node_status import Heartbeat
from hopyard.store import FolderSync, SyncReport
from hopyard.tracking import MetricPoint, NodeOutcome, NodeState, NodeWriter, run_paths
from hopyard.worker.checkpoints import Checkpoints
from hopyard.worker.left_files import KEPT_IN, WorkingFolder, gather
from hopyard.worker.periodic import Periodic, PeriodicThread
from hopyard.worker.rescue import rescue
from hopyard.worker.tail import Tail
from hopyard.worker.task import NodeTask
from hopyard.worker.unsent import UnsentLines

if TYPE_CHECKING:
    from hopyard.worker.execution import Report

FLUSH_SECONDS = 0.5
MOST_METRICS = 100
LONGEST_NAME = 200


class NodeRecorder:
    """Takes lines and messages of a running node; open as a context while the node runs.

    Attributes:
        chores: What has to be done now and then while the node runs; in the context a thread does it.
    """

    def __init__(
        self,
        task: NodeTask,
        logdir: Path,
        checkpoints: Checkpoints,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.logdir = logdir
        self._rank = task.node.rank
        self._attempt = task.attempt
        self._clock = clock
        self._active = clock()
        self._step: int | None = None
        self._latest: dict[str, float] = {}
        self._steps: dict[str, int] = {}  # the last one of each metric
        self._backwards: set[str] = set()  # metrics of which was told that their steps go back
        self._nans: set[str] = set()  # metrics of which was told that they are no number any more
        self._notes: dict[str, str] = {}
        self._unsent = UnsentLines() if task.streams else None
        self._tail = Tail()
        paths = run_paths(task.project, task.run_id)
        self._writer = NodeWriter(task.project, task.run_id, task.node.rank, task.attempt)
        self._checkpoints = checkpoints
        self._sync = FolderSync(
            task.project, logdir, paths.node_logdir(task.node.rank), reserved=paths.reserved_names
        )
        self._is_trial = task.trial >= 0
        self._working_folder = WorkingFolder.here()
        self.chores = (
            Periodic(self._writer.poll, FLUSH_SECONDS),
            Periodic(self._sync.sync, task.sync_seconds),
            Periodic(checkpoints.sync, task.sync_seconds),
        )
        self._housekeeper = PeriodicThread(*self.chores)

    def __enter__(self) -> Self:
        self._housekeeper.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._housekeeper.__exit__()

    def line(self, line: bytes) -> None:
        """Takes a line of the node's output; of one that a progress bar has drawn over again and again, what was drawn last."""
        self._active = self._clock()
        line = line.rstrip(b"\r").rpartition(b"\r")[2]
        text = line.decode(errors="replace")
        self._tail.add(text)
        if self._unsent is not None:
            self._unsent.add(text)
        self._writer.log(line)

    def message(self, line: bytes) -> None:
        """Takes a line from the node's channel; what is no metric goes to the log with the reason."""
        try:
            reading = parse(line)
        except BadMessage as error:
            self.line(f"[hopyard] {error}".encode())
            return
        self._active = self._clock()
        if isinstance(reading, Note):
            self.announce(reading.note, reading.text)
            return
        self._step = reading.step
        self._show(reading)
        self._watch_step(reading)
        self._watch_value(reading)
        self._writer.metric(
            MetricPoint(
                name=reading.name,
                step=reading.step,
                value=reading.value,
                time=reading.time,
                rank=self._rank,
                attempt=self._attempt,
            )
        )

    def _watch_step(self, reading: Reading) -> None:
        """Says in the log, once for each metric, that its steps go back; the same step again may be meant."""
        last = self._steps.get(reading.name, reading.step)
        self._steps[reading.name] = reading.step
        if reading.step < last and reading.name not in self._backwards:
            self._backwards.add(reading.name)
            text = f"the metric {reading.name!r} goes back from step {last} to step {reading.step}"
            remedy = "count steps upwards, or give it another name"
            effect = "charts show it out of order, and a pruner leaves such steps out"
            self.line(f"[hopyard] {text}: {remedy}; {effect}".encode())

    def _watch_value(self, reading: Reading) -> None:
        """Says in the log, once for each metric, that it has become NaN: what is trained from then on is worth nothing."""
        if math.isnan(reading.value) and reading.name not in self._nans:
            self._nans.add(reading.name)
            text = f"the metric {reading.name!r} is NaN at step {reading.step}"
            self.line(f"[hopyard] {text}: the training has diverged, or its data has nulls or NaN".encode())

    def _show(self, reading: Reading) -> None:
        """Makes a value part of the next sign, which has room for some; all are stored."""
        latest = {**self._latest, reading.name[:LONGEST_NAME]: reading.value}
        if len(latest) > MOST_METRICS:
            del latest[next(iter(latest))]
        self._latest = latest  # a new one, since another thread reads the old one

    def announce(self, name: str, address: str) -> None:
        """Takes something that the driver is to know, such as the address of a server beside the node."""
        self._notes[name] = address

    def sign(self) -> Heartbeat:
        """Returns what there is to tell the driver; lines are told once."""
        return Heartbeat(
            step=self._step,
            metrics=self._latest,
            idle_seconds=self._clock() - self._active,
            lines=() if self._unsent is None else self._unsent.take(),
            notes=dict(self._notes),  # threads add to it
        )

    def close(self, record: NodeOutcome, report: Report | None = None) -> NodeOutcome:
        """Stores what is left to store, at last the record; returns it as it was stored.

        Files that the store did not take are moved aside on this host, the function's value with them, and the record
        says where.

        Args:
            record: How the node ended.
            report: What the function ended with, if its value is not safe elsewhere.
        """
        is_rescued = False
        try:
            record = self._keep_left_files(record)
            self._tell(self._sync.final())
            self._checkpoints.final()
        except Exception as error:  # noqa: BLE001  each store has its own exceptions; told in the record
            is_rescued = True
            aside = rescue(self.logdir, report)
            record = _failed_to_store(record, f"its log folder could not be stored ({error}); {aside}")
        if record.state is not NodeState.FINISHED:
            record = replace(record, tail=self._tail.last(record.traceback))
        try:
            if not self._is_trial:  # which has a record of its own
                self._writer.outcome(record)
            self._writer.close()
        except Exception as error:  # noqa: BLE001  as above
            aside = "" if is_rescued else rescue(None, report)
            problem = f"its log could not be stored ({error})"
            record = _failed_to_store(record, f"{problem}; {aside}" if aside else problem)
        return record

    def _keep_left_files(self, record: NodeOutcome) -> NodeOutcome:
        """Keeps what lies beside the log folder or in the working folder, says so, and has it on the record."""
        for name, kept_as in gather(self.logdir):
            text = f"{name!r} was left beside the log folder, and is kept in it as {kept_as!r}"
            self.line(f"[hopyard] {text}: write os.path.join(logdir, {kept_as!r})".encode())
        left = self._working_folder.keep(self.logdir)
        if left.kept:
            text = f"left in the working folder, and kept with the run in {KEPT_IN}/: {left.kept}"
            self.line(f"[hopyard] {text}".encode())
        if left.lost:
            self.line(f"[hopyard] left in the working folder, and not kept: {left.lost}".encode())
        return replace(record, kept=left.kept, lost=left.lost)

    def _tell(self, report: SyncReport) -> None:
        """Says in the log which files are not in the project under their own names."""
        for name, stored_as in report.renamed:
            self.line(f"[hopyard] the file {name!r} is stored as {stored_as!r}".encode())
        for name, reason in report.refused:
            self.line(f"[hopyard] {name!r} is not stored: {reason}".encode())


def _failed_to_store(record: NodeOutcome, problem: str) -> NodeOutcome:
    message = problem if record.message is None else f"{record.message}; also, {problem}"
    return replace(record, state=NodeState.FAILED, message=message)
