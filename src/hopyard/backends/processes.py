"""The backend without Spark: each node is a supervised process on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for

from hopyard.backends.base import Group, GroupEnd, GroupOptions
from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang
from hopyard.errors import BackendFailed
from hopyard.protocol.node_status import NodeStatus
from hopyard.protocol.outcome import Outcome
from hopyard.worker.lease import Link
from hopyard.worker.supervisor import LOOPBACK, Supervisor
from hopyard.worker.task import NodeTask

STOP_SECONDS = 60.0
TICK_SECONDS = 0.5


class ProcessesBackend:
    """Runs nodes as processes of this machine."""

    name = "processes"
    application = None
    encrypts = False

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> Group:
        """Starts one process per task."""
        return ProcessGroup(tasks, options)


class ProcessGroup:
    """Nodes beside the driver, and a coordinator that their supervisors call directly."""

    def __init__(self, tasks: Sequence[NodeTask], options: GroupOptions) -> None:
        self._gang = Gang(tasks[0].plan, options.timeouts, now=time.monotonic())
        self._coordinator = Coordinator(self._gang, on_lines=options.on_lines)
        self._nodes = supervise(tasks, self._coordinator)

    def wait(self, timeout: float | None = None) -> GroupEnd | None:
        """Returns how the group ended, or None if some nodes still run."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while wait_for(self._nodes, max(0.0, min(TICK_SECONDS, deadline - time.monotonic()))).not_done:
            self._coordinator.tick()
            if time.monotonic() >= deadline:
                return None
        if self._gang.error is not None:
            raise self._gang.error
        outcomes = tuple(node.result() for node in self._nodes)
        return GroupEnd(outcomes=outcomes, culprit=self._gang.culprit)

    def stop(self, reason: str) -> None:
        """Ends all nodes."""
        self._coordinator.stop(reason)
        if wait_for(self._nodes, STOP_SECONDS).not_done:
            raise BackendFailed(
                "processes", f"some nodes did not end within {STOP_SECONDS:.0f} s of being told to"
            )

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        self._coordinator.grant(grace_seconds)

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        return self._coordinator.status()


def supervise(
    tasks: Sequence[NodeTask], link: Link, *, address: str = LOOPBACK
) -> tuple[Future[Outcome], ...]:
    """Starts nodes beside the driver, each with its supervisor in a thread.

    A program that ends does not wait for these threads, as it would for those of a ThreadPoolExecutor: the nodes end
    with the program.
    """
    nodes = tuple(_Node(Supervisor(task, link, address=address)) for task in tasks)
    for node in nodes:
        node.start()
    return tuple(node.outcome for node in nodes)


class _Node(threading.Thread):
    """A supervisor in a thread, and what comes of its node."""

    def __init__(self, supervisor: Supervisor) -> None:
        super().__init__(name=f"hopyard-node-{supervisor.task.node.rank}", daemon=True)
        self._supervisor = supervisor
        self.outcome: Future[Outcome] = Future()

    def run(self) -> None:
        try:
            self.outcome.set_result(self._supervisor.run())
        except BaseException as error:  # noqa: BLE001  the edge of a thread; raised to whoever asks for the outcome
            self.outcome.set_exception(error)
