"""One Spark job whose tasks start a node each, and stay with it or let it go."""

from __future__ import annotations

import os
import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopyard.cluster.departure import Orders, depart
from hopyard.cluster.devices import DeviceRequest
from hopyard.cluster.lease import CALL_SECONDS
from hopyard.cluster.node import NodeTask
from hopyard.cluster.obituary import tell
from hopyard.cluster.outcome import Outcome
from hopyard.cluster.plan import Node
from hopyard.cluster.supervisor import Supervisor
from hopyard.errors import BackendFailed, SupervisorNotStarted
from hopyard.wire import WireClient, routable_address

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.resource import ResourceProfile

LONGEST_CAUSE = 2000
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")
_PYTHON_ERROR = re.compile(r"^(?:hopyard\.errors\.)?(?P<type>[A-Z]\w+): (?P<text>.+)$", re.MULTILINE)


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
                yield Supervisor(task, link, address=address, gpus=_gpus()).run()


def _let_go(task: NodeTask, address: str, seconds: float) -> None:
    """Starts a node that leaves this task; if it does not start, the driver is told."""
    orders = Orders(task=task, address=address, gpus=_gpus(), life=uuid.uuid4().hex, executor=os.getppid())
    try:
        depart(orders, seconds)
    except SupervisorNotStarted as error:
        reason = f"its supervisor did not start: {error.cause}"
        tell(orders, reason, error.last_lines, seconds=CALL_SECONDS)


class SparkJob:
    """A Spark job in a thread of its own, so that the driver can do other things meanwhile."""

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
        from pyspark import InheritableThread

        self._context = context
        self._group = group
        self._tasks = tasks
        self._profile = profile
        self._barrier = barrier
        self._detach_seconds = detach_seconds
        self._on_end = on_end
        self.outcomes: tuple[Outcome, ...] = ()
        self.error: BackendFailed | None = None
        self._thread: threading.Thread = InheritableThread(target=self._run, session=None)
        self._thread.daemon = True
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the job has not ended."""
        return self._thread.is_alive()

    def join(self, timeout: float) -> None:
        """Waits for the end, at most so many seconds."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            self._context.setJobGroup(
                self._group, f"Hopyard run {self._tasks[0].run_id}", interruptOnCancel=False
            )
            members = [(task.node, task.devices) for task in self._tasks]
            nodes: Any = self._context.parallelize(members, len(members))
            if self._profile is not None:
                nodes = nodes.withResources(self._profile)
            if self._barrier:
                nodes = nodes.barrier()
            work = nodes.mapPartitions(RunNodes(task=self._tasks[0], detach_seconds=self._detach_seconds))
            self.outcomes = tuple(work.collect())
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            self.error = BackendFailed("spark", summary(error))
            self.error.__cause__ = error
        finally:
            self._on_end.set()


def lost_tasks(context: SparkContext, group: str) -> bool:
    """Tells whether Spark lost a task of a job group: ours never fail, so an executor is gone, or its Python."""
    tracker = context.statusTracker()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage_id in () if info is None else info.stageIds:
            stage = tracker.getStageInfo(stage_id)
            # a barrier stage starts anew as a whole, with counters at nought
            if stage is not None and (stage.numFailedTasks or stage.currentAttemptId):
                return True
    return False


def is_cancelled(error: BackendFailed) -> bool:
    """Tells whether a job ended because somebody cancelled it."""
    return "SPARK_JOB_CANCELLED" in str(error)


def _gpus() -> tuple[str, ...] | None:
    """Returns the GPUs that Spark gave this task; None if it gives none."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    gpus = context.resources().get("gpu")
    return None if gpus is None else tuple(gpus.addresses)


def summary(error: Any) -> str:
    """Returns what of a Spark error says something, and what to do if the executors lack a module."""
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() if java is not None else error).split("\nDriver stacktrace:")[0].strip()
    missing = _MISSING_MODULE.search(text)
    if missing:
        return (
            f"the executors' Python has no module {missing[1]!r}. Install there what is installed here, or send it "
            "along: spark.archives with a packed environment, or spark.submit.pyFiles."
        )
    ours = [found for found in _PYTHON_ERROR.finditer(text) if found["type"] == "DriverOutOfReach"]
    return ours[-1]["text"] if ours else text[:LONGEST_CAUSE]
