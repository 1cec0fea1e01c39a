"""What goes to the executors is small and goes by name: nothing nested, no code objects."""

from __future__ import annotations

import ast
import pickle

import cloudpickle
import pytest
from hopyard.backends.spark_nodes import RunNodes

from hopyard.protocol.plan import Plan
from hopyard.store import Project
from hopyard.tracking import RunId
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit

SHIPS = {
    "flatMap",
    "mapPartitions",
    "mapPartitionsWithIndex",
    "foreachPartition",
    "mapInArrow",
    "mapInPandas",
}


def run_nodes(payload: bytes) -> RunNodes:
    task = NodeTask(
        node=Plan.of(1).nodes[0],
        plan=Plan.of(1),
        run_id=RunId(app_id="application-1", kind="launcher", number=1),
        project=Project.open(),
        payload=payload,
    )
    return RunNodes(task=task)


def test_class_that_runs_nodes_is_pickled_by_reference():
    data = cloudpickle.dumps(RunNodes)
    assert len(data) < 100
    assert pickle.loads(data) is RunNodes


def test_node_on_its_way_to_an_executor_is_small_and_has_no_code():
    data = cloudpickle.dumps(run_nodes(b""))
    assert len(data) < 2000
    assert b"cloudpickle" not in data  # its functions rebuild code; plain values need none of them


def test_user_function_adds_only_its_own_bytes():
    growth = len(cloudpickle.dumps(run_nodes(b"x" * 10_000))) - len(cloudpickle.dumps(run_nodes(b"")))
    assert growth < 10_100


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
