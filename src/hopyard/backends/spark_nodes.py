"""One Spark job whose tasks start a node each, and stay with it or let it go."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopyard.errors import BackendFailed, SupervisorNotStarted
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Node
from hopyard.spark.job import SparkJob, job_description, one_task_each, task_gpus
from hopyard.wire import WireClient, routable_address
from hopyard.worker.detach.report_lost import tell
from hopyard.worker.detach.start import Orders, depart
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.lease import CALL_SECONDS
from hopyard.worker.supervisor import Supervisor
from hopyard.worker.task import NodeTask

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.resource import ResourceProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNodes:
    """What a Spark task executes: one node, with its devices, per element of its partition.

    Attributes:
        task: What all nodes have in common.
        detach_seconds: How long a node may take to leave the task; None if the task stays with it.
    """

    task: NodeTask
    detach_seconds: float | None = None

    def __call__(self, nodes: Iterable[tuple[Node, DeviceRequest]]) -> Iterator[Outcome]:
        """Runs the nodes of a partition; their failures travel as values, never as Spark errors.

        A node that leaves the task brings its outcome to the driver itself.
        """
        endpoint = self.task.coordinator
        assert endpoint is not None
        address = routable_address(peer=endpoint.host)
        for node, devices in nodes:
            task = replace(self.task, node=node, devices=devices)
            if self.detach_seconds is not None:
                _let_go(task, address, self.detach_seconds)
                continue
            with WireClient(endpoint, timeout=CALL_SECONDS) as link:
                yield Supervisor(task, link, address=address, gpus=task_gpus()).run()


def _let_go(task: NodeTask, address: str, seconds: float) -> None:
    """Starts a node that leaves this task; if it does not start, the driver is told."""
    orders = Orders(
        task=task, address=address, gpus=task_gpus(), incarnation=uuid.uuid4().hex, executor=os.getppid()
    )
    try:
        depart(orders, seconds)
    except SupervisorNotStarted as error:
        reason = f"its supervisor did not start: {error.cause}"
        tell(orders, reason, error.last_lines, seconds=CALL_SECONDS)


class SparkNodes:
    """The Spark job of nodes that get the same of an executor."""

    def __init__(
        self,
        context: SparkContext,
        group: str,
        tasks: Sequence[NodeTask],
        *,
        profile: ResourceProfile | None,
        barrier: bool,
        detach_seconds: float | None,
        on_end: threading.Event,
    ) -> None:
        """Starts the job.

        Args:
            context: The Spark application.
            group: The job group that it can be cancelled by.
            tasks: One node each; they differ in nothing but the node and its devices.
            profile: What each task gets of an executor; that of the session if None.
            barrier: Whether Spark is to start all tasks together or none.
            detach_seconds: How long nodes may take to leave their tasks; None if they stay.
            on_end: Set when the job has ended.
        """
        self._context = context
        self._tasks = tasks
        self._profile = profile
        self._barrier = barrier
        self._detach_seconds = detach_seconds
        description = job_description(tasks[0].run_id, _nodes(tasks))
        self._action = SparkJob(context, self._rows, group=group, description=description, on_end=on_end)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What came of the nodes, once the job has ended well."""
        return self._action.values

    @property
    def error(self) -> BackendFailed | None:
        """What the job ended of, if not well."""
        return self._action.error

    @property
    def is_running(self) -> bool:
        """Whether the job has not ended."""
        return self._action.is_running

    def join(self, timeout: float) -> None:
        """Waits for the end, at most so many seconds."""
        self._action.join(timeout)

    def _rows(self) -> Any:
        members = ((task.node, task.devices) for task in self._tasks)
        nodes = one_task_each(self._context, members, self._profile)
        if self._barrier:
            nodes = nodes.barrier()
        return nodes.mapPartitions(RunNodes(task=self._tasks[0], detach_seconds=self._detach_seconds))


def _nodes(tasks: Sequence[NodeTask]) -> str:
    ranks = [str(task.node.rank) for task in tasks]
    return f"node {ranks[0]}" if len(ranks) == 1 else f"nodes {', '.join(ranks[:-1])} and {ranks[-1]}"
