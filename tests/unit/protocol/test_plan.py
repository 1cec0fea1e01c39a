from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopyard.errors import InvalidPlan
from hopyard.protocol.plan import Plan, Role

pytestmark = pytest.mark.unit


def places(plan: Plan) -> list[tuple[int, str, int]]:
    return [(node.rank, node.role.value, node.task_index) for node in plan.nodes]


def test_the_first_node_is_the_chief_and_the_rest_are_workers() -> None:
    assert places(Plan.of(3)) == [(0, "chief", 0), (1, "worker", 0), (2, "worker", 1)]


def test_without_a_chief_the_first_node_is_a_worker() -> None:
    assert places(Plan.of(2, chief=False)) == [(0, "worker", 0), (1, "worker", 1)]


def test_who_trains_comes_first_then_parameter_servers_then_the_evaluator() -> None:
    plan = Plan.of(6, ps=2, evaluator=True)
    assert places(plan) == [
        (0, "chief", 0),
        (1, "worker", 0),
        (2, "worker", 1),
        (3, "ps", 0),
        (4, "ps", 1),
        (5, "evaluator", 0),
    ]
    assert (plan.size, plan.trainers) == (6, 3)


def test_a_node_is_called_by_its_rank_and_role() -> None:
    assert str(Plan.of(2, ps=1).nodes[1]) == "node 1 (ps)"


def test_a_run_waits_for_all_who_train() -> None:
    assert Plan.of(4, evaluator=True).leaders == {0, 1, 2}


def test_with_parameter_servers_a_run_waits_for_the_chief_who_coordinates() -> None:
    assert Plan.of(4, ps=1, evaluator=True).leaders == {0}


def test_with_parameter_servers_and_no_chief_a_run_waits_for_the_workers() -> None:
    assert Plan.of(4, ps=1, chief=False).leaders == {0, 1, 2}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"nodes": 0}, "nodes=0 is not valid: give a whole number of at least 1"),
        ({"nodes": -1}, "nodes=-1"),
        ({"nodes": 2.0}, r"nodes=2\.0 is not valid: give a whole number"),
        ({"nodes": "4"}, "nodes='4' is not valid: give a whole number"),
        ({"nodes": None}, "nodes=None"),
        ({"nodes": True}, "nodes=True is not valid: give a whole number"),
        ({"nodes": 3, "ps": -1}, "ps=-1 is not valid: give a whole number of at least 0"),
        ({"nodes": 3, "ps": 1.5}, r"ps=1\.5"),
        ({"nodes": 1, "ps": 1}, "nodes=1, ps=1, evaluator=False is not valid: no node is left"),
        ({"nodes": 2, "ps": 1, "evaluator": True}, "no node is left to train"),
        ({"nodes": 4, "evaluator": 2}, "evaluator=2 is not valid: give True or False"),
        ({"nodes": 4, "evaluator": "no"}, "evaluator='no' is not valid: give True or False"),
        ({"nodes": 4, "chief": None}, "chief=None is not valid: give True or False"),
    ],
)
def test_numbers_that_make_no_plan_are_refused_with_what_to_do(arguments: dict[str, int], words: str) -> None:
    with pytest.raises(InvalidPlan, match=words):
        Plan.of(**arguments)


@given(st.integers(1, 30), st.integers(0, 30), st.booleans(), st.booleans())
def test_every_plan_has_as_many_nodes_as_were_asked_for_and_leaders_first(
    nodes: int, ps: int, evaluator: bool, chief: bool
) -> None:
    try:
        plan = Plan.of(nodes, ps=ps, evaluator=evaluator, chief=chief)
    except InvalidPlan:
        assert nodes - ps - evaluator < 1
        return
    assert [node.rank for node in plan.nodes] == list(range(nodes))
    roles = [node.role for node in plan.nodes]
    assert (roles.count(Role.PS), roles.count(Role.EVALUATOR)) == (ps, evaluator)
    assert (roles.count(Role.CHIEF), roles[0] is Role.CHIEF) == (chief, chief)
    assert plan.leaders == set(range(len(plan.leaders)))
    for role in Role:
        indices = [node.task_index for node in plan.nodes if node.role is role]
        assert indices == list(range(len(indices)))
