"""The Spark backend: each node is a supervised process that a Spark task starts.

The task stays with its node, which so holds a slot; or the node leaves it, so that others can have the slot.
"""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from hopyard.backends.attachment import detaches
from hopyard.backends.base import GroupEnd, GroupOptions
from hopyard.backends.processes import supervise
from hopyard.backends.spark_nodes import SparkNodes
from hopyard.control.coordinator import Coordinator
from hopyard.control.driver_wire import CoordinatorService, driver_address
from hopyard.control.gang import Gang
from hopyard.errors import BackendFailed
from hopyard.protocol.node_status import NodeStatus
from hopyard.protocol.outcome import Outcome
from hopyard.spark.job import is_cancelled, is_stopped, lost_tasks
from hopyard.spark.preflight.profiles import profile_for
from hopyard.spark.preflight.room import Demand, Room, uses_barrier
from hopyard.spark.session.encryption import encrypts
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import WireServer
from hopyard.worker.detach.lost_outcome import absent_outcome, lost_outcome, undelivered_outcome
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.task import NodeTask

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.resource import ResourceProfile

TICK_SECONDS = 0.5
NODES_SECONDS = 15.0
LEASE_MARGIN_SECONDS = 2.0
EXPLAINED_SECONDS = 2.0
UNEXPLAINED_SECONDS = 60.0
CANCEL_SECONDS = 30.0
CANCEL_AGAIN_SECONDS = 1.0


def gpu_share(request: DeviceRequest) -> float | None:
    """Returns how much of GPUs a Spark task needs for a node; None for what the session gives."""
    return request.gpus if request.fraction is None else request.fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Nodes whose Spark tasks get the same of an executor: those without a GPU may need a stage of their own."""

    profile: ResourceProfile | None
    tasks: tuple[NodeTask, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The nodes that run on executors, by what their Spark tasks need of GPUs."""

    tasks: dict[float | None, tuple[NodeTask, ...]]

    @classmethod
    def of(cls, tasks: Sequence[NodeTask]) -> Self:
        """Returns the shares of these nodes."""
        shares: dict[float | None, tuple[NodeTask, ...]] = {}
        for task in tasks:
            gpus = gpu_share(task.devices)
            shares[gpus] = (*shares.get(gpus, ()), task)
        return cls(tasks=shares)

    @property
    def demands(self) -> list[Demand]:
        """What they ask of Spark."""
        return [Demand(nodes=len(some), gpus=gpus) for gpus, some in self.tasks.items()]

    def stages(self, context: SparkContext) -> list[Stage]:
        """Returns the stages in which they run."""
        stages: dict[int | None, Stage] = {}
        for gpus, some in self.tasks.items():
            profile = profile_for(context, gpus)
            key = None if profile is None else profile.id
            before = stages.get(key, Stage(profile=profile))
            stages[key] = replace(before, tasks=(*before.tasks, *some))
        return list(stages.values())


class SparkBackend:
    """Runs nodes as tasks of Spark jobs."""

    name = "spark"

    def __init__(self, context: SparkContext) -> None:
        self._context = context

    @property
    def application(self) -> str:
        """The id of the Spark application."""
        return str(self._context.applicationId)

    @property
    def encrypts(self) -> bool:
        """Whether Spark encrypts its own connections."""
        return encrypts(self._context._conf)  # noqa: SLF001  getConf() copies all

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> SparkGroup:
        """Starts one Spark task per node, as soon as there are executors for all.

        Raises:
            NotEnoughSlots: This Spark will never have room for so many nodes.
        """
        return SparkGroup(self._context, tasks, options)


class SparkGroup:
    """Spark jobs, the coordinator that their nodes call, and nodes beside the driver, if any.

    The jobs start when there is room for all nodes. If nodes leave their tasks, the jobs end when all nodes have
    registered, and the group when all have brought their outcomes. Otherwise the jobs last as long as the nodes.
    Whoever waits for the group drives it: `wait` looks at the clock and at Spark.
    """

    def __init__(self, context: SparkContext, tasks: Sequence[NodeTask], options: GroupOptions) -> None:
        self._context = context
        self._tasks = {task.node.rank: task for task in tasks}
        self._options = options
        self._shares = Shares.of([task for task in tasks if task.node.trains or not options.on_driver])
        self._remote = {task.node.rank for some in self._shares.tasks.values() for task in some}
        self._job_group = f"hopyard-{uuid.uuid4().hex}"
        self._room = Room.of(
            context,
            self._shares.demands,
            seconds=options.timeouts.start,
            group=self._job_group,
        )
        self._gang = Gang(tasks[0].plan, options.timeouts, now=time.monotonic())
        self._news = threading.Event()
        self._coordinator = Coordinator(self._gang, on_lines=options.on_lines, on_left=self._news.set)
        self._over_since: float | None = None
        self._jobs: list[SparkNodes] = []
        self._outcome_key = secrets.token_bytes()
        with ExitStack() as resources:
            driver_host = context._conf.get("spark.driver.host", "localhost")  # noqa: SLF001  getConf() copies all
            address = options.address or driver_address(driver_host)
            self._server = WireServer(
                CoordinatorService(self._coordinator, outcome_key=self._outcome_key),
                address=address,
                port=options.ports,
                tls=options.tls,
            )
            resources.enter_context(self._server)
            if self._room.is_there():
                self._start_jobs()
            beside = [task for rank, task in self._tasks.items() if rank not in self._remote]
            self._beside = supervise(beside, self._coordinator, address=address)
            self._resources = resources.pop_all()

    def wait(self, timeout: float | None = None) -> GroupEnd | None:
        """Returns how the group ended, or None if some nodes still run."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while self._is_under_way():
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if self._news.wait(min(TICK_SECONDS, left)):
                self._news.clear()
        return self._end()

    def stop(self, reason: str) -> None:
        """Tells the nodes to end, so that they store what they have; cancels the Spark jobs if they do not.

        A node that has left its task and does not hear of it ends when its lease has run out.
        """
        self._coordinator.stop(reason)
        lease = self._options.timeouts.lease + LEASE_MARGIN_SECONDS if self._options.detach else 0.0
        deadline = time.monotonic() + max(NODES_SECONDS, lease)
        with self._resources:
            while not self._coordinator.is_settled and time.monotonic() < deadline and self._is_under_way():
                if self._news.wait(TICK_SECONDS / 5):
                    self._news.clear()
            self._cancel()

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        self._coordinator.grant(grace_seconds)

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        return self._coordinator.status()

    def _start_jobs(self) -> None:
        detach = self._options.detach and detaches(self._context, self._shares.demands)
        self._options = replace(self._options, detach=detach)
        self._jobs = [self._job(stage) for stage in self._shares.stages(self._context)]

    def _job(self, stage: Stage) -> SparkNodes:
        return SparkNodes(
            self._context,
            self._job_group,
            [
                replace(task, coordinator=self._server.endpoint, outcome_key=self._outcome_key)
                for task in stage.tasks
            ],
            profile=stage.profile,
            barrier=uses_barrier(self._context),
            # so that a node which does not manage to leave is told of before start_timeout has run out
            detach_seconds=self._options.timeouts.start / 2 if self._options.detach else None,
            on_end=self._news,
        )

    def _is_under_way(self) -> bool:
        """Looks at nodes and jobs; returns whether there is still something to wait for."""
        self._coordinator.tick()
        if not self._jobs:
            return self._is_worth_waiting()
        jobs_run = any(job.is_running for job in self._jobs)
        if jobs_run and self._coordinator.present and lost_tasks(self._context, self._job_group):
            self._coordinator.suspect()
        if any(job.error for job in self._jobs):
            self._coordinator.suspect()
            return self._coordinator.present > 0 and not self._is_overdue(UNEXPLAINED_SECONDS)
        is_ending = self._gang.is_stopping or is_stopped(self._context)
        if jobs_run and not self._gang.has_all and not is_ending:
            self._room.tell()
        if not jobs_run and all(node.done() for node in self._beside):
            return self._options.detach and not self._coordinator.is_settled
        if not self._coordinator.is_settled or len(self._gang.records) == len(self._tasks):
            return True  # nodes store what they leave, or their tasks are about to end
        # a node that is lost or never came has no task that ends: Spark would start another one
        explained = self._gang.culprit is not None or self._gang.error is not None
        return not self._is_overdue(EXPLAINED_SECONDS if explained else UNEXPLAINED_SECONDS)

    def _is_worth_waiting(self) -> bool:
        """Starts the jobs if there is room by now; returns whether there is still something to wait for."""
        if self._gang.is_stopping:
            return not self._coordinator.is_settled
        if is_stopped(self._context):
            raise BackendFailed("spark", "it was stopped while the run waited for executors")
        if self._room.is_there():
            self._start_jobs()
        else:
            self._room.tell()
        return True

    def _is_overdue(self, seconds: float) -> bool:
        now = time.monotonic()
        self._over_since = self._over_since or now
        return now - self._over_since > seconds

    def _end(self) -> GroupEnd:
        failed = next((job.error for job in self._jobs if job.error is not None), None)
        with self._resources:
            self._cancel()
        if self._gang.error is not None:
            never_started = None if self._jobs else self._room.refusal()
            raise never_started or self._gang.error
        if failed is not None and (self._gang.culprit is None or is_cancelled(failed)):
            raise failed
        outcomes = self._outcomes()
        return GroupEnd(
            outcomes=tuple(outcomes[rank] for rank in sorted(outcomes)), culprit=self._gang.culprit
        )

    def _cancel(self) -> None:
        """Makes sure that the jobs have ended."""
        deadline = time.monotonic() + CANCEL_SECONDS
        for job in self._jobs:
            while job.is_running and time.monotonic() < deadline:
                self._context.cancelJobGroup(self._job_group)  # again: Spark may not have had the job before
                job.join(CANCEL_AGAIN_SECONDS)
            if job.is_running:
                raise BackendFailed(
                    "spark", f"its job did not end within {CANCEL_SECONDS:.0f} s of being cancelled"
                )

    def _outcomes(self) -> dict[int, Outcome]:
        """Returns what is known of each node: from its task, else from its last words, else from its silence."""
        known = {rank: self._told(rank, record) for rank, record in self._gang.records.items()}
        told = [outcome for job in self._jobs for outcome in job.outcomes]
        told += [node.result() for node in self._beside if node.done()]
        known |= {outcome.record.rank: outcome for outcome in told}
        hosts = {status.rank: status.host for status in self._coordinator.status()}
        for rank, reason in self._gang.lost.items():
            known[rank] = lost_outcome(self._tasks[rank], hosts[rank], reason)
        return {rank: known.get(rank) or absent_outcome(task) for rank, task in self._tasks.items()}

    def _told(self, rank: int, record: NodeOutcome) -> Outcome:
        """Returns what a node said of its end; one that has left its task and is done has also brought a value."""
        brought = self._gang.outcomes.get(rank)
        if brought is not None:
            return brought
        if self._options.detach and rank in self._remote and record.state is NodeState.FINISHED:
            return undelivered_outcome(self._tasks[rank], record, "it fell silent on the way")
        return Outcome(record=record)
