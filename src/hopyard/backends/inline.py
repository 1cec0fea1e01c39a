"""The backend for debugging: nodes run one after the other in this very process.

Breakpoints work and no process is started. The function still gets a copy of its arguments by pickle and
the same environment variables, so that what runs here runs elsewhere.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from io import TextIOBase
from typing import TextIO

from hopyard.backends.base import Crew
from hopyard.control.service import PoolService
from hopyard.environment import environment
from hopyard.protocol.channel import VARIABLE as CHANNEL
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import Arrive, Ended, Left
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.outcome import Outcome
from hopyard.scratch import scratch_folder
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.worker.checkpoints import Checkpoints
from hopyard.worker.child import LineSplitter
from hopyard.worker.execution import Report, execute
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.node_work import NodeWork, task_of
from hopyard.worker.ports import HeldPort, hold_port, let_go
from hopyard.worker.recorder import NodeRecorder
from hopyard.worker.task import NodePlace, NodeTask
from hopyard.worker.work import LOOPBACK

INCARNATION = "inline"


class InlineBackend:
    """Runs nodes in the calling thread."""

    name = "inline"
    application = None
    encrypts = False

    def room(self, devices: DeviceRequest) -> int:  # noqa: ARG002  of this process there is one
        """Returns 1: one node after the other."""
        return 1

    def start(self, crew: Crew, service: PoolService) -> InlineWorkers:
        """Runs all nodes to their end."""
        assert isinstance(crew.work, NodeWork)
        tasks = [task_of(crew.work.task, member) for member in crew.members]
        with ExitStack() as resources:
            ports = {task.node: resources.enter_context(hold_port(task.ports)) for task in tasks}
            addresses = {node: f"{LOOPBACK}:{port.number}" for node, port in ports.items()}
            for node, address in addresses.items():
                service.ask(
                    Arrive(
                        number=node.rank,
                        incarnation=INCARNATION,
                        address=address,
                        host=socket.gethostname(),
                    )
                )
            for task in tasks:
                outcome = run_inline(task, ClusterMap.of(addresses), ports[task.node])
                _hand_over(outcome, service)
        return InlineWorkers()


class InlineWorkers:
    """Nodes that have ended already."""

    have_left = False
    refusal = None

    def watch(self) -> None:
        """Does nothing: the nodes have ended."""

    def close(self, patience: float) -> None:
        """Does nothing: the nodes have ended."""


def _hand_over(outcome: Outcome, service: PoolService) -> None:
    rank = outcome.record.rank
    service.ask(Ended(number=rank, incarnation=INCARNATION, record=outcome.record, heartbeat=Heartbeat()))
    service.deliver(rank, INCARNATION, outcome)
    service.ask(Left(number=rank, incarnation=INCARNATION))


def run_inline(task: NodeTask, members: ClusterMap, port: HeldPort) -> Outcome:
    """Runs one node in this process."""
    started = time.time()
    with scratch_folder("node") as scratch, given_away(port) as descriptor:
        checkpoints = Checkpoints(task, scratch)
        checkpoints.fetch()
        place = NodePlace(scratch=scratch, checkpoints=checkpoints.folder, members=members, port=descriptor)
        place.logdir.mkdir()
        if task.node.rank not in task.plan.leaders:
            place.stop_file.touch()  # those that the run waits for have had their turn
        with NodeRecorder(task, place.logdir, checkpoints) as recorder:
            output = LineSplitter(recorder.line)
            with (
                message_pipe(recorder) as channel,
                environment({**task.variables(place), CHANNEL: channel}),
                redirect_stdout(Tee(sys.stdout, output)),
                redirect_stderr(Tee(sys.stderr, output)),
            ):
                report = execute(task.payload)
            output.close()
        record = recorder.close(_record(task, started, report), report)
    return Outcome(record=record, value=report.value)


def _record(task: NodeTask, started: float, report: Report) -> NodeOutcome:
    record = task.finished(started)
    failure = report.failure
    if failure is None:
        return record
    return replace(
        record,
        state=NodeState.FAILED,
        exit_code=None,
        error_type=failure.error_type,
        message=failure.message,
        traceback=failure.traceback,
    )


class Tee(TextIOBase):
    """A text stream that shows what is written and hands it to the log as well."""

    def __init__(self, shown: TextIO, logged: LineSplitter) -> None:
        self._shown = shown
        self._logged = logged

    def write(self, text: str) -> int:
        """Writes to both."""
        self._shown.write(text)
        self._logged.feed(text.encode(errors="backslashreplace"))
        return len(text)

    def flush(self) -> None:
        """Flushes what is shown."""
        self._shown.flush()


@contextmanager
def given_away(port: HeldPort) -> Iterator[int]:
    """Gives a node the descriptor that holds its port, which it may close at any time."""
    descriptor = port.give_away()
    inode = os.fstat(descriptor).st_ino
    try:
        yield descriptor
    finally:
        let_go(descriptor, inode)


@contextmanager
def message_pipe(recorder: NodeRecorder) -> Iterator[str]:
    """Gives the file descriptor, as text, of a channel whose messages reach the recorder."""
    read, write = os.pipe()
    reader = threading.Thread(target=_drain, args=(read, LineSplitter(recorder.message)), daemon=True)
    reader.start()
    try:
        yield str(write)
    finally:
        os.close(write)
        reader.join()


def _drain(fd: int, messages: LineSplitter) -> None:
    with open(fd, "rb", buffering=0) as pipe:
        while chunk := pipe.read(1 << 16):
            messages.feed(chunk)
    messages.close()
