from __future__ import annotations

from dataclasses import replace

import pytest

from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.run_snapshot import Snapshot, metrics, names, silence

pytestmark = pytest.mark.unit


def node(rank: int, role: str = "worker", phase: Phase = Phase.RUNNING, silent: float = 0.0) -> NodeStatus:
    return NodeStatus(rank=rank, role=role, phase=phase, silent_seconds=silent)


def test_neighbours_of_a_role_are_named_as_a_range() -> None:
    nodes = [node(0, "chief"), node(1), node(2), node(3), node(5), node(6, "ps"), node(7, "ps")]
    assert names(nodes) == "chief 0, worker 1-3, worker 5, ps 6-7"


def test_those_beyond_the_most_names_are_counted() -> None:
    assert names([node(rank) for rank in (1, 3, 5, 6, 8)], most=2) == "worker 1, worker 3 and 3 more"


def test_a_snapshot_says_who_is_missing() -> None:
    nodes = (
        node(0, "chief"),
        node(1),
        node(2, phase=Phase.AWAITED),
        node(3, "ps", phase=Phase.AWAITED),
    )
    waiting = Snapshot.of("run", seconds=1, nodes=nodes)
    assert waiting.missing == "waiting for 2 of 4 nodes: worker 2, ps 3"
    over = Snapshot.of("run", seconds=1, nodes=nodes, is_over=True)
    assert over.missing == "2 of 4 nodes did not arrive: worker 2, ps 3"


def test_nobody_is_missing_once_all_have_arrived() -> None:
    assert Snapshot.of("run", seconds=1, nodes=[node(0, phase=Phase.ARRIVED)]).missing == ""


def test_a_short_silence_is_not_worth_a_word() -> None:
    nodes = Snapshot.of("run", seconds=1, nodes=[node(0, silent=5.0), node(1, silent=12.7)]).nodes
    assert [silence(each) for each in nodes] == ["", "silent 12 s"]


def test_snapshots_that_look_the_same_are_equal() -> None:
    one, other = (
        Snapshot.of("run", seconds=seconds, nodes=[node(0, silent=seconds / 10)]) for seconds in (7.1, 7.9)
    )
    assert one == other
    assert one != Snapshot.of("run", seconds=8.0, nodes=[node(0)])


def test_what_is_not_shown_makes_no_difference() -> None:
    one, other = (
        Snapshot.of("run", seconds=1, nodes=[replace(node(0), idle_seconds=idle, notes={"a": str(idle)})])
        for idle in (0.1, 0.6)
    )
    assert one == other


def test_the_time_reads_like_a_clock() -> None:
    assert Snapshot.of("run", seconds=3725.9, nodes=()).elapsed == "1:02:05"


def test_the_first_three_metrics_are_shown_with_short_numbers() -> None:
    status = NodeStatus(
        rank=0,
        role="chief",
        phase=Phase.RUNNING,
        metrics={"loss": 0.123456789, "lr": 1e-5, "seen": 1234567.0, "fourth": 4.0},
    )
    assert metrics(status) == ("loss 0.1235", "lr 1e-05", "seen 1.235e+06")
