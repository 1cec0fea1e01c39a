from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.feed_meter import Fed, Rows
from hopyard.view.run_snapshot import Snapshot
from hopyard.view.run_table import NodeTable

pytestmark = pytest.mark.unit

METRICS = {"loss": 0.25, "accuracy": 0.875}


def node(rank: int, role: str = "worker", phase: Phase = Phase.RUNNING) -> NodeStatus:
    metrics = METRICS if phase is Phase.RUNNING else {}
    step = 100 + rank if metrics else None
    host = "" if phase is Phase.AWAITED else f"host-{rank % 3}"
    return NodeStatus(rank=rank, role=role, phase=phase, host=host, step=step, metrics=metrics)


def drawn(
    nodes: Sequence[NodeStatus],
    *,
    width: int = 100,
    height: int = 40,
    feed: Fed | None = None,
    is_over: bool = False,
) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, force_terminal=True, color_system=None)
    snapshot = Snapshot.of("app/launcher/run.1", seconds=83, nodes=nodes, is_over=is_over, feed=feed)
    console.print(NodeTable(snapshot))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def many(workers: int) -> list[NodeStatus]:
    return [node(0, "chief"), *(node(rank) for rank in range(1, workers + 1)), node(workers + 1, "ps")]


def test_each_node_has_a_row() -> None:
    assert drawn([node(0, "chief"), node(1), node(2, "ps", Phase.ARRIVED)]) == [
        "app/launcher/run.1  0:01:23",
        "node  role    host    state    step  metrics",
        "   0  chief   host-0  running   100  loss 0.25, accuracy 0.875",
        "   1  worker  host-1  running   101  loss 0.25, accuracy 0.875",
        "   2  ps      host-2  arrived",
    ]


def test_before_the_nodes_are_known_the_table_says_that_they_are_being_started() -> None:
    assert drawn([]) == ["app/launcher/run.1  0:01:23", "the nodes are being started"]


def test_those_who_are_awaited_are_named_below() -> None:
    lines = drawn([node(0, "chief", Phase.ARRIVED), node(1, phase=Phase.AWAITED)])
    assert lines[-2:] == ["   1  worker          awaited", "waiting for 1 of 2 nodes: worker 1"]


def test_a_silent_node_is_told() -> None:
    lines = drawn([replace(node(0), silent_seconds=12.3)])
    assert lines[-1] == "   0  worker  host-0  running   100  loss 0.25, accuracy 0.875  silent 12 s"


def test_many_nodes_are_a_row_for_each_role() -> None:
    assert drawn(many(30))[1:] == [
        "node  role    host     state          step  metrics",
        "   0  chief   host-0   running         100  loss 0.25, accuracy 0.875",
        "1-30  worker  3 hosts  30 running  101-130",
        "  31  ps      host-1   running         131  loss 0.25, accuracy 0.875",
    ]


def test_of_many_nodes_those_that_do_not_simply_run_have_a_row_of_their_own() -> None:
    nodes = many(30)
    nodes[7] = node(7, phase=Phase.LOST)
    nodes[9] = node(9, phase=Phase.FAILED)
    nodes[11] = replace(nodes[11], silent_seconds=6.0)
    nodes[13] = node(13, phase=Phase.AWAITED)
    nodes[15] = node(15, phase=Phase.FINISHED)
    lines = drawn(nodes)
    assert "1 awaited, 26 running, 1 finished, 1 failed, 1 lost" in lines[3]
    assert [line.split()[0] for line in lines[5:9]] == ["9", "7", "11", "13"]
    assert lines[9:] == ["waiting for 1 of 32 nodes: worker 13"]


def test_no_more_rows_than_there_is_room() -> None:
    nodes = [node(0, "chief"), *(node(rank, phase=Phase.AWAITED) for rank in range(1, 1001))]
    lines = drawn(nodes)
    assert len(lines) == 24
    assert lines[-2:] == [
        "982 more are failed, lost, silent or awaited",
        "waiting for 1000 of 1001 nodes: worker 1-1000",
    ]


def test_a_low_terminal_shows_roles_where_the_nodes_have_no_room() -> None:
    assert len(drawn(many(10), height=24)) == 14
    assert len(drawn(many(10), height=12)) == 5


@pytest.mark.parametrize("width", [90, 60, 50])
def test_a_narrow_terminal_shortens_hosts_and_metrics_first(width: int) -> None:
    nodes = [
        replace(node(0), host="a-long-name.of.a-host.example.com", metrics={"a": 1, "accuracy": 2, "c": 3})
    ]
    lines = drawn(nodes, width=width)
    assert len(lines) == 3
    assert max(map(len, lines)) <= width
    assert lines[2].startswith("   0  worker  a-long-")
    assert "  running   100  a" in lines[2]


FED = Fed(
    rows={
        0: Rows(count=12_345, per_second=1_200, waiting=345),
        1: Rows(count=2_300_000, per_second=98_000),
    },
    under_way="epoch 2 of 3",
)


def test_nodes_that_are_fed_have_rows_and_a_sum() -> None:
    assert drawn([node(0, "chief"), node(1), node(2, "ps")], feed=FED) == [
        "app/launcher/run.1  0:01:23  epoch 2 of 3",
        "node  role    host    state      rows  rows/s  waiting  step  metrics",
        "   0  chief   host-0  running  12,345   1,200      345   100  loss 0.25, accuracy 0.875",
        "   1  worker  host-1  running    2.3M  98,000            101  loss 0.25, accuracy 0.875",
        "   2  ps      host-2  running                            102  loss 0.25, accuracy 0.875",
        " all                            2.31M  99,200      345",
    ]


def test_after_the_end_of_a_run_no_epoch_is_under_way() -> None:
    rows = {0: Rows(count=7), 1: Rows(count=8)}
    nodes = [node(rank, phase=Phase.FINISHED) for rank in range(2)]
    assert drawn(nodes, feed=replace(FED, rows=rows), is_over=True) == [
        "app/launcher/run.1  0:01:23",
        "node  role    host    state     rows  step  metrics",
        "   0  worker  host-0  finished     7",
        "   1  worker  host-1  finished     8",
        " all                              15",
    ]


def test_the_rows_of_one_node_need_no_sum() -> None:
    assert len(drawn([node(0)], feed=Fed(rows={0: Rows(count=7)}))) == 3


def test_the_rows_of_many_nodes_are_those_of_their_role() -> None:
    feed = Fed(rows={rank: Rows(count=100, per_second=10) for rank in range(31)})
    lines = drawn(many(30), feed=feed)
    assert lines[3].startswith("1-30  worker  3 hosts  30 running  3,000     300")
    assert lines[5] == " all                               3,100     310"


def test_a_narrow_terminal_shows_rows_and_the_epoch_in_full() -> None:
    lines = drawn([node(0, "chief"), node(1)], width=60, feed=FED)
    assert lines[0] == "app/launcher/run.1  0:01:23  epoch 2 of 3"
    assert "rows  rows/s  step" in lines[1]
    assert "12,345   1,200   100" in lines[2]
    assert max(map(len, lines)) <= 60
    assert drawn([node(0)], width=36, feed=FED)[0] == "…uncher/run.1  0:01:23  epoch 2 of 3"


@pytest.mark.parametrize("width", range(30, 100, 5))
def test_numbers_are_whole_on_a_terminal_of_any_width(width: int) -> None:
    metrics = {"Präzision_日本_der_Vorhersage": 3.14159, "loss": 0.2537}
    chief = replace(node(0, "chief"), host="a-host-with-a-long-name", metrics=metrics, step=123456)
    row = drawn([chief], width=width)[2]
    assert set(re.findall(r"\d[\d.]*", row)) <= {"0", "123456", "3.142", "0.2537"}
    assert "123456" in row
