"""`launch`: runs a function on nodes and returns what came of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopyard.cluster.backend import Backend, Group
from hopyard.cluster.housekeeping import Chore, Housekeeper
from hopyard.cluster.node import NodeTask, driver_search_path
from hopyard.cluster.outcome import Outcome, failure
from hopyard.cluster.payload import dump
from hopyard.cluster.plan import Plan
from hopyard.store import Project
from hopyard.tensorboard.live import LiveTensorBoard
from hopyard.tracking import NodeState, RunId, RunState, RunWriter
from hopyard.training.application import application_id
from hopyard.training.backends import resolve
from hopyard.training.call import bind
from hopyard.training.result import RunResult

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
LONGEST_VALUE = 200


def launch(
    fn: Callable[..., Any],
    args: object = None,
    nodes: int = 1,
    *,
    name: str | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | Backend | None = None,
    project: Project | None = None,
    kind: str = "launcher",
    description: str = "",
    tensorboard: bool = False,
) -> RunResult:
    """Runs a function on one or more nodes and waits for the end.

    Args:
        fn: The training function. It may import what it needs inside; a parameter named ``ctx``
            receives the `NodeContext`.
        args: Its arguments: a mapping (by name) or a tuple or list (by position).
        nodes: How many processes run it, each with its own rank.
        name: A name for the run; that of the function if not given.
        spark: The session to run on; the active one if not given.
        backend: ``"spark"`` (the default), ``"processes"`` (this machine, no Spark) or ``"inline"``
            (this process, for debugging).
        project: Where the run is kept; `Project.open` with its defaults if not given.
        kind: The folder that groups runs of this kind.
        description: Free text that is kept with the run.
        tensorboard: Show the run in a TensorBoard beside the driver while it goes on; its address is
            logged, and is in the run's record (``hopyard runs``).

    Returns:
        The values that the nodes returned, and where log, metrics and files are.

    Raises:
        NotPicklable: The function cannot travel; the error names the variable at fault.
        BadArguments: The arguments do not fit the function.
        MissingDependency: ``tensorboard`` was asked for and is not installed.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    call = bind(fn, args)
    payload = dump(call, user=call.call)
    plan = Plan.of(nodes)
    where = resolve(backend, spark)
    project = project or Project.open()
    run = RunWriter.begin(
        project,
        app_id=application_id(where),
        kind=kind,
        name=name or call.call.name,
        nodes=plan.size,
        backend=where.name,
        description=description,
    )
    folder = project.layout.run(run.id.app_id, run.id.kind, run.id.number).folder
    with ExitStack() as resources:
        resources.enter_context(run)
        resources.enter_context(Housekeeper(Chore(run.heartbeat, run.record.heartbeat_seconds)))
        if tensorboard:
            resources.enter_context(LiveTensorBoard(project, folder, Announcement(run)))
        values = collect(wait(where.start(node_tasks(plan, run.id, project, payload))))
        run.finish(RunState.FINISHED, value=repr(values[0])[:LONGEST_VALUE])
    return RunResult(run_id=str(run.id), state=RunState.FINISHED, values=values, logdir=project.url(folder))


@dataclass(frozen=True, slots=True)
class Announcement:
    """Tells where the TensorBoard of a run is: in the log, and in the run's record."""

    run: RunWriter

    def __call__(self, url: str) -> None:
        """Takes the address."""
        LOG.info("TensorBoard of %s: %s", self.run.id, url)
        self.run.annotate(tensorboard=url)


def node_tasks(plan: Plan, run_id: RunId, project: Project, payload: bytes) -> list[NodeTask]:
    """Returns what each node of a plan is to be given."""
    search_path = driver_search_path()
    return [
        NodeTask(
            node=node,
            size=plan.size,
            run_id=run_id,
            project=project,
            payload=payload,
            search_path=search_path,
        )
        for node in plan.nodes
    ]


def wait(group: Group) -> tuple[Outcome, ...]:
    """Waits for the nodes; whatever interrupts the waiting ends them."""
    try:
        while True:
            # short waits, so that Ctrl-C is heard at once
            outcomes = group.wait(LOOK_SECONDS)
            if outcomes is not None:
                return outcomes
    except BaseException:
        group.stop()
        raise


def collect(outcomes: tuple[Outcome, ...]) -> tuple[Any, ...]:
    """Returns the nodes' values.

    Raises:
        NodeFailed: A node failed; of several, the one that failed first.
    """
    failed = sorted(
        (outcome.record for outcome in outcomes if not outcome.ok),
        key=lambda record: (record.state is NodeState.KILLED, record.ended),
    )
    if failed:
        raise failure(failed[0])
    return tuple(outcome.result() for outcome in outcomes)
