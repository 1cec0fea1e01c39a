"""The Spark backend: each node is a supervised process beside a Spark task that stays with it."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopyard.cluster.coordinator import Coordinator, driver_address
from hopyard.cluster.lease import lease_of
from hopyard.cluster.node import NodeTask
from hopyard.cluster.outcome import Outcome
from hopyard.cluster.plan import Node
from hopyard.cluster.supervisor import Supervisor
from hopyard.errors import BackendFailed
from hopyard.tracking import NodeState
from hopyard.wire import WireServer

if TYPE_CHECKING:
    from pyspark import SparkContext, TaskContext

NODES_SECONDS = 15.0
STOP_SECONDS = 30.0
LONGEST_CAUSE = 2000
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")


class SparkBackend:
    """Runs nodes as tasks of one Spark job."""

    name = "spark"

    def __init__(self, context: SparkContext) -> None:
        self._context = context

    @property
    def application(self) -> str:
        """The id of the Spark application."""
        return str(self._context.applicationId)

    def start(self, tasks: Sequence[NodeTask]) -> SparkGroup:
        """Starts one Spark task per node."""
        return SparkGroup(self._context, tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNodes:
    """What a Spark task executes: one node per element of its partition."""

    task: NodeTask

    def __call__(self, nodes: Iterable[Node]) -> Iterator[Outcome]:
        """Runs the nodes of a partition; their failures travel as values, never as Spark errors."""
        for node in nodes:
            task = replace(self.task, node=node, environment={**self.task.environment, **_devices()})
            yield Supervisor(task).run() if _attempt() == 0 else _lost(task)


class SparkGroup:
    """A Spark job of long tasks, started in a thread so that the driver can wait with a deadline."""

    def __init__(self, context: SparkContext, tasks: Sequence[NodeTask]) -> None:
        from pyspark import InheritableThread

        self._context = context
        self._tasks = tasks
        self._coordinator = Coordinator(len(tasks))
        self._job_group = f"hopyard-{uuid.uuid4().hex}"
        self._outcomes: tuple[Outcome, ...] | None = None
        self._error: Exception | None = None
        self._thread: threading.Thread = InheritableThread(target=self._run, session=None)
        self._thread.daemon = True
        self._thread.start()

    def wait(self, timeout: float | None = None) -> tuple[Outcome, ...] | None:
        """Returns the outcomes in rank order, or None if some nodes still run."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            return None
        if self._error is not None:
            raise BackendFailed("spark", _summary(self._error)) from self._error
        return self._outcomes

    def stop(self) -> None:
        """Tells the nodes to end, so that they store what they have; cancels the Spark job if they do not."""
        self._coordinator.stop("the driver said so")
        if self._coordinator.has_nodes():
            self._thread.join(NODES_SECONDS)
        self._context.cancelJobGroup(self._job_group)
        self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            raise BackendFailed(
                "spark", f"its job did not end within {STOP_SECONDS:.0f} s of being cancelled"
            )

    def _run(self) -> None:
        run_id = self._tasks[0].run_id
        address = driver_address(self._context.getConf().get("spark.driver.host", "localhost"))
        try:
            with WireServer(self._coordinator, address=address) as server:
                task = replace(self._tasks[0], coordinator=server.endpoint)
                self._context.setJobGroup(self._job_group, f"Hopyard run {run_id}", interruptOnCancel=False)
                nodes = self._context.parallelize([task.node for task in self._tasks], len(self._tasks))
                outcomes = nodes.mapPartitions(RunNodes(task=task)).collect()
            self._outcomes = tuple(sorted(outcomes, key=_rank))
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            self._error = error


def _rank(outcome: Outcome) -> int:
    return outcome.record.rank


def _attempt() -> int:
    """Returns how often Spark tried this task before."""
    return _task_context().attemptNumber()


def _devices() -> dict[str, str]:
    """Returns the environment that shows a node those GPUs which Spark gave its task, if Spark gives any."""
    gpus = _task_context().resources().get("gpu")
    return {} if gpus is None else {"CUDA_VISIBLE_DEVICES": ",".join(gpus.addresses)}


def _task_context() -> TaskContext:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context


def _lost(task: NodeTask) -> Outcome:
    """Returns the outcome of a node whose first executor vanished: a training is not repeated unasked."""
    message = (
        "its executor was lost (see Spark's log; often the memory limit), and Spark tried the task again"
    )
    record = replace(task.finished(time.time()), state=NodeState.FAILED, exit_code=None, message=message)
    with lease_of(task, _no_node) as lease:
        lease.tell(record)
    return Outcome(record=record)


def _no_node(reason: str) -> None:
    """Takes an order to stop a node that is no more."""


def _summary(error: Any) -> str:
    """Returns what of a Spark error says something, and what to do if the executors lack a module."""
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() if java is not None else error).split("\nDriver stacktrace:")[0].strip()
    missing = _MISSING_MODULE.search(text)
    if missing:
        return (
            f"the executors' Python has no module {missing[1]!r}. Install there what is installed here, or send it "
            "along: spark.archives with a packed environment, or spark.submit.pyFiles."
        )
    return text[:LONGEST_CAUSE]
