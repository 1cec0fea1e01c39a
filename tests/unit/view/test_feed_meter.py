from __future__ import annotations

import pytest

from hopyard.feed.account import EpochAccount
from hopyard.feed.state import STATE, FeedState
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.feed_meter import Fed, FeedMeter, Rows, quantity

pytestmark = pytest.mark.unit


def node(rank: int, received: int, consumed: int | None = None, phase: Phase = Phase.RUNNING) -> NodeStatus:
    state = FeedState(received=received, consumed=received if consumed is None else consumed)
    return NodeStatus(rank=rank, role="worker", phase=phase, notes={STATE: state.to_note()})


def account(epoch: int, rows: int, *, is_whole: bool = True) -> EpochAccount:
    return EpochAccount(epoch=epoch, rows=rows, by_node={0: rows}, is_whole=is_whole)


def look(meter: FeedMeter, *nodes: NodeStatus, now: float = 0.0) -> Fed:
    fed = meter.look(nodes, now)
    assert fed is not None
    return fed


def test_nodes_without_a_feed_have_nothing_to_show() -> None:
    assert FeedMeter().look([NodeStatus(rank=0, role="ps", phase=Phase.RUNNING)], 0.0) is None


def test_rows_are_counted_by_node_and_together() -> None:
    nodes = [node(0, 100, 70), node(1, 50), NodeStatus(rank=2, role="ps", phase=Phase.RUNNING)]
    fed = look(FeedMeter(), *nodes)
    assert fed.rows == {0: Rows(count=100, waiting=30), 1: Rows(count=50)}
    assert fed.of(nodes) == Rows(count=150, waiting=30)
    assert fed.of(nodes[2:]) is None


def test_the_rate_is_that_of_the_last_seconds() -> None:
    meter = FeedMeter()
    rates = [look(meter, node(0, rows), now=now).rows[0].per_second for now, rows in enumerate([0, 100, 300])]
    assert rates == [None, 100, 150]
    assert look(meter, node(0, 1_300), now=7.0).rows[0].per_second == 200
    assert look(meter, node(0, 1_300), now=13.0).rows[0].per_second is None
    assert look(meter, node(0, 1_300), now=14.0).rows[0].per_second == 0


def test_a_node_that_has_ended_has_no_rate_and_nothing_waits_there() -> None:
    meter = FeedMeter()
    look(meter, node(0, 0), node(1, 0))
    fed = look(meter, node(0, 100, 20, Phase.KILLED), node(1, 100), now=1.0)
    assert fed.rows == {0: Rows(count=100), 1: Rows(count=100, per_second=100)}


def test_nodes_that_are_started_again_count_from_nothing() -> None:
    meter = FeedMeter()
    look(meter, node(0, 1_000))
    assert look(meter, node(0, 10), now=2.0).rows[0] == Rows(count=10)
    assert look(meter, node(0, 30), now=4.0).rows[0] == Rows(count=30, per_second=10)


def test_the_epoch_under_way_is_told_also_when_the_nodes_read_it_again() -> None:
    meter = FeedMeter()
    look(meter, node(0, 500))  # of an earlier feed
    meter.begin(3)
    assert look(meter, node(0, 500)).under_way == "epoch 1 of 3"
    assert look(meter, node(0, 560)).under_way == "epoch 1 of 3"
    meter.account(account(0, 100))
    assert look(meter, node(0, 590)).under_way == "epoch 2 of 3"
    assert look(meter, node(0, 710)).under_way == "epoch 3 of 3"
    assert look(meter, node(0, 800)).under_way == "epoch 3 of 3"
    meter.end()
    assert look(meter, node(0, 800)).under_way == ""


def test_what_was_fed_is_told_with_its_number() -> None:
    meter = FeedMeter()
    meter.begin(2)
    meter.account(account(0, 1_000))
    meter.account(account(1, 1_000, is_whole=False))
    fed = look(meter, node(0, 0))
    assert (fed.number, fed.done) == (2, "epoch 2 of 2: 1,000 rows fed, and no more were wanted")
    meter.begin(1)
    meter.account(account(0, 5))
    fed = look(meter, node(0, 0))
    assert (fed.number, fed.done, fed.under_way) == (3, "5 rows fed", "")


def test_what_was_fed_is_not_forgotten_while_the_nodes_are_started_again() -> None:
    meter = FeedMeter()
    meter.begin(2)
    look(meter, node(0, 0))
    meter.account(account(0, 1_000))
    fed = look(meter, NodeStatus(rank=0, role="worker", phase=Phase.AWAITED), now=1.0)
    assert (fed.number, fed.rows) == (1, {})


def test_what_is_fed_while_nothing_else_is_comes_from_a_stream() -> None:
    meter = FeedMeter()
    meter.begin(1)
    meter.end()
    meter.account(account(17, 1_000))
    fed = look(meter, node(0, 1_000))
    assert (fed.under_way, fed.number) == ("micro-batch 17 is fed", 0)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (999_999, "999,999"),
        (1_000_000, "1M"),
        (1_234_567, "1.23M"),
        (999_499_999, "999M"),
        (999_999_999, "1G"),
        (12_300_000_000_000, "12.3T"),
        (1_230_000_000_000_000, "1.23e+03T"),
    ],
)
def test_numbers_are_short(number: int, words: str) -> None:
    assert quantity(number) == words
