from __future__ import annotations

import json

import pytest

from hopyard.codec.records import from_json, to_json
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.plan import Plan

pytestmark = pytest.mark.unit

PLAN = Plan.of(5, ps=1, evaluator=True)


def members() -> ClusterMap:
    nodes = reversed(PLAN.nodes)  # in whatever order they arrived
    return ClusterMap.of({node: f"10.0.0.{node.rank}:{8000 + node.rank}" for node in nodes})


def test_addresses_stand_by_role_in_the_order_of_task_indices() -> None:
    assert members().by_role == {
        "chief": ("10.0.0.0:8000",),
        "worker": ("10.0.0.1:8001", "10.0.0.2:8002"),
        "ps": ("10.0.0.3:8003",),
        "evaluator": ("10.0.0.4:8004",),
    }


def test_a_map_travels_as_json() -> None:
    assert from_json(ClusterMap, json.loads(json.dumps(to_json(members())))) == members()
