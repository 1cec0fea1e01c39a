"""The work of the nodes of a run: a supervised process each, in the Spark task or out of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopyard.errors import SupervisorNotStarted
from hopyard.spark.job import job_description
from hopyard.worker.detach.report_lost import tell
from hopyard.worker.detach.start import Orders, depart
from hopyard.worker.driver_link import Driver, RemoteDriver
from hopyard.worker.lease import CALL_SECONDS
from hopyard.worker.supervisor import Supervisor
from hopyard.worker.task import NodeTask
from hopyard.worker.work import Host, Member


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWork:
    """Runs nodes and stays with them.

    Attributes:
        task: What the nodes have in common.
    """

    task: NodeTask

    def run(self, member: Member, driver: Driver, host: Host) -> None:
        """Runs one node to its end."""
        task = task_of(self.task, member)
        with driver.open(call_seconds=CALL_SECONDS, patience=task.lease_seconds) as link:
            Supervisor(task, link, address=host.address, gpus=host.gpus, is_remote=driver.is_remote).run()

    def describe(self, numbers: Sequence[int]) -> str:
        """Returns the run and its nodes."""
        return _description(self.task, numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachedNodeWork:
    """Starts nodes that leave their Spark tasks.

    Attributes:
        task: What the nodes have in common.
        seconds: How long it may take until the driver has heard of one.
        meanwhile: Modules that the tasks which come after these need; they are imported while the nodes start.
    """

    task: NodeTask
    seconds: float
    meanwhile: tuple[str, ...] = ()

    def run(self, member: Member, driver: Driver, host: Host) -> None:
        """Returns when all nodes of the run have arrived; if this one does not start, the driver is told."""
        assert isinstance(driver, RemoteDriver)
        orders = Orders(
            task=task_of(self.task, member),
            driver=driver,
            host=host,
            incarnation=uuid.uuid4().hex,
            executor=os.getppid(),
        )
        try:
            depart(orders, self.seconds, meanwhile=self.meanwhile)
        except SupervisorNotStarted as error:
            reason = f"its supervisor did not start: {error.cause}"
            tell(orders, reason, error.last_lines, seconds=CALL_SECONDS)

    def describe(self, numbers: Sequence[int]) -> str:
        """Returns the run and its nodes."""
        return _description(self.task, numbers)


def task_of(task: NodeTask, member: Member) -> NodeTask:
    """Returns the task of one node from that of any other one of the same run."""
    return replace(task, node=task.plan.nodes[member.number], devices=member.devices)


def _description(task: NodeTask, numbers: Sequence[int]) -> str:
    ranks = [str(number) for number in numbers]
    nodes = f"node {ranks[0]}" if len(ranks) == 1 else f"nodes {', '.join(ranks[:-1])} and {ranks[-1]}"
    return job_description(task.run_id, nodes)
