"""Nodes have the names and numbers that programs of TensorFlowOnSpark know."""

from __future__ import annotations

import pytest

from hopyard.errors import InvalidPlan
from hopyard.protocol.plan import Role
from tensorflowonspark.roles import Roles

pytestmark = pytest.mark.unit

ALL = Roles(num_executors=6, num_ps=2, master_node="master", eval_node=True)


def test_numbers_begin_with_the_parameter_servers_and_end_with_the_workers():
    assert ALL.template() == {"ps": [0, 1], "master": [2], "evaluator": [3], "worker": [4, 5]}


def test_workers_alone_are_numbered_from_nought():
    assert Roles(num_executors=3).template() == {"worker": [0, 1, 2]}


def test_master_alone_is_a_cluster():
    assert Roles(num_executors=1, master_node="chief").template() == {"chief": [0]}


def test_every_node_of_the_plan_has_a_number_of_its_own():
    plan = ALL.plan()
    numbers = {ALL.executor_id(node.role.value, node.task_index) for node in plan.nodes}
    assert numbers == set(range(6))


def test_cluster_shows_the_masters_own_name():
    cluster = {"chief": ("a:1",), "worker": ("b:1", "c:1"), "ps": ("d:1", "e:1"), "evaluator": ("f:1",)}
    assert ALL.cluster_spec(cluster) == {
        "ps": ["d:1", "e:1"],
        "master": ["a:1"],
        "evaluator": ["f:1"],
        "worker": ["b:1", "c:1"],
    }


@pytest.mark.parametrize("roles", [ALL, Roles(num_executors=3, num_ps=1)], ids=["master", "none"])
def test_all_that_train_are_waited_for_whoever_leads_them(roles):
    assert roles.plan().waits_for == {Role.CHIEF, Role.WORKER}


@pytest.mark.parametrize("name", ["worker", "ps", "evaluator"])
def test_master_with_the_name_of_another_role_is_refused(name):
    with pytest.raises(InvalidPlan, match=f"master_node='{name}'"):
        Roles(num_executors=2, master_node=name).plan()


def test_cluster_without_anybody_who_trains_is_refused():
    with pytest.raises(InvalidPlan, match="no node is left to train"):
        Roles(num_executors=2, num_ps=1, eval_node=True).plan()
