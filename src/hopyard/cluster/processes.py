"""The backend without Spark: each node is a supervised process on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack

from hopyard.cluster.backend import Group
from hopyard.cluster.node import NodeTask
from hopyard.cluster.outcome import Outcome
from hopyard.cluster.supervisor import Supervisor
from hopyard.errors import BackendFailed
from hopyard.tracking import NodeState

STOP_SECONDS = 60.0


class ProcessesBackend:
    """Runs nodes as processes of this machine."""

    name = "processes"
    application = None

    def start(self, tasks: Sequence[NodeTask]) -> Group:
        """Starts one process per task."""
        return ProcessGroup([Supervisor(task) for task in tasks])


class ProcessGroup:
    """Supervisors, one per node, each in a thread of its own."""

    def __init__(self, supervisors: Sequence[Supervisor]) -> None:
        self._supervisors = supervisors
        with ExitStack() as resources:
            pool = ThreadPoolExecutor(len(supervisors), thread_name_prefix="hopyard-node")
            resources.callback(pool.shutdown, wait=False)
            self._futures: list[Future[Outcome]] = [pool.submit(each.run) for each in supervisors]
        for future in self._futures:
            future.add_done_callback(self._heed)

    def wait(self, timeout: float | None = None) -> tuple[Outcome, ...] | None:
        """Returns the outcomes in rank order, or None if some nodes still run."""
        if wait_for(self._futures, timeout).not_done:
            return None
        return tuple(future.result() for future in self._futures)

    def stop(self) -> None:
        """Ends all nodes."""
        self._tell_all("the driver said so")
        if wait_for(self._futures, STOP_SECONDS).not_done:
            raise BackendFailed(
                "processes", f"some nodes did not end within {STOP_SECONDS:.0f} s of being told to"
            )

    def _heed(self, ended: Future[Outcome]) -> None:
        """Ends the group with the first node that fails."""
        record = ended.result().record
        if record.state is NodeState.FAILED:
            self._tell_all(f"node {record.rank} failed")

    def _tell_all(self, reason: str) -> None:
        for supervisor in self._supervisors:
            supervisor.stop(reason)
