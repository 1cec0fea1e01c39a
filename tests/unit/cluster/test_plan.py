from __future__ import annotations

import pytest

from hopyard.cluster.plan import Plan

pytestmark = pytest.mark.unit


def test_the_first_node_is_the_chief_and_the_rest_are_workers() -> None:
    plan = Plan.of(3)
    assert [(n.rank, n.role.value, n.task_index) for n in plan.nodes] == [
        (0, "chief", 0),
        (1, "worker", 0),
        (2, "worker", 1),
    ]


def test_a_plan_without_nodes_is_refused() -> None:
    with pytest.raises(ValueError, match="nodes=0"):
        Plan.of(0)
