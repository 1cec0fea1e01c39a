"""What goes to the executors is small and goes by name: nothing nested, no code objects."""

from __future__ import annotations

import ast
import pickle

import cloudpickle
import pytest

from hopyard.backends.spark_workers import RunMembers
from hopyard.protocol.plan import Plan
from hopyard.search.trial.slot import SlotOrders
from hopyard.search.trial.slot_work import SlotWork
from hopyard.store import Project
from hopyard.tracking import RunId
from hopyard.wire import Endpoint
from hopyard.worker.driver_link import RemoteDriver
from hopyard.worker.node_work import DetachedNodeWork, NodeWork
from hopyard.worker.task import NodeTask
from hopyard.worker.work import Work

pytestmark = pytest.mark.unit

SHIPS = {
    "flatMap",
    "mapPartitions",
    "mapPartitionsWithIndex",
    "foreachPartition",
    "mapInArrow",
    "mapInPandas",
}


def node_task(payload: bytes) -> NodeTask:
    return NodeTask(
        node=Plan.of(1).nodes[0],
        plan=Plan.of(1),
        run_id=RunId(app_id="application-1", kind="launcher", number=1),
        project=Project.open(),
        payload=payload,
    )


def works(payload: bytes) -> tuple[Work, ...]:
    """Returns all that workers on executors do, for the same user function."""
    task = node_task(payload)
    orders = SlotOrders(
        run_id=task.run_id, study="vintage", project=task.project, payload=payload, objectives=("metric",)
    )
    return NodeWork(task=task), DetachedNodeWork(task=task, seconds=1.0), SlotWork(orders=orders)


def run_members(work: Work) -> RunMembers:
    endpoint = Endpoint(host="127.0.0.1", port=1, token="t" * 32)
    return RunMembers(work=work, driver=RemoteDriver(endpoint=endpoint, outcome_key=b"k" * 32))


EACH_WORK = pytest.mark.parametrize("place", range(3), ids=["nodes", "nodes that leave", "slots"])


def test_class_that_runs_workers_is_pickled_by_reference():
    data = cloudpickle.dumps(RunMembers)
    assert len(data) < 100
    assert pickle.loads(data) is RunMembers


@EACH_WORK
def test_worker_on_its_way_to_an_executor_is_small_and_has_no_code(place: int):
    data = cloudpickle.dumps(run_members(works(b"")[place]))
    assert len(data) < 2000
    assert b"cloudpickle" not in data  # its functions rebuild code; plain values need none of them


@EACH_WORK
def test_user_function_adds_only_its_own_bytes(place: int):
    with_function, without = (
        len(cloudpickle.dumps(run_members(works(payload)[place]))) for payload in (b"x" * 10_000, b"")
    )
    assert with_function - without < 10_100


def test_spark_is_given_only_what_is_pickled_by_name(source):
    shipped = [
        (module, call)
        for module in source
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in SHIPS
        and call.args
    ]
    assert shipped, "no call ships anything: does this test still look for the right names?"
    assert [module.at(call) for module, call in shipped if not by_name(module.tree, call.args[0])] == []


def by_name(tree: ast.Module, shipped: ast.expr) -> bool:
    """Tells whether an expression is a top-level function or an instance of a top-level class."""
    named = shipped.func if isinstance(shipped, ast.Call) else shipped
    top = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    top |= {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return isinstance(named, ast.Name) and named.id in top
