"""What is known of the epochs that nodes have read."""

from __future__ import annotations

import pytest

from hopyard.feed.driver.consumption import ended_early, epochs_read
from hopyard.feed.state import ADDRESS, STATE, FeedState
from hopyard.protocol.node_status import NodeStatus, Phase

pytestmark = pytest.mark.unit

EPOCHS = 3


def node(
    rank: int, read: tuple[int, int], phase: Phase = Phase.RUNNING, *, is_stopped: bool = False
) -> NodeStatus:
    state = FeedState(read=read, is_stopped=is_stopped)
    return NodeStatus(
        rank=rank, role="worker", phase=phase, notes={ADDRESS: "there:1", STATE: state.to_note()}
    )


def test_epochs_are_read_when_the_last_node_has_read_them() -> None:
    assert epochs_read([node(0, (1, 2)), node(1, (1, 0))], 1, EPOCHS) == 1


def test_who_reads_a_later_feed_has_read_the_earlier_ones() -> None:
    assert epochs_read([node(0, (2, 0)), node(1, (4, 0))], 1, EPOCHS) == EPOCHS
    assert epochs_read([node(0, (2, 0))], 3, EPOCHS) == 0


def test_who_wants_no_more_rows_holds_up_nobody() -> None:
    done = node(0, (1, 0), Phase.FINISHED)
    stopped = node(1, (1, 0), is_stopped=True)
    assert epochs_read([done, stopped, node(2, (1, 1))], 1, EPOCHS) == 2


def test_who_has_failed_holds_up_all() -> None:
    assert epochs_read([node(0, (1, 2)), node(1, (1, 0), Phase.FAILED, is_stopped=True)], 1, EPOCHS) == 1


def test_nothing_is_read_by_nobody() -> None:
    assert epochs_read([], 0, EPOCHS) == 0


def test_those_who_end_their_feed_before_the_end_of_an_epoch_are_told() -> None:
    nodes = [
        node(0, (1, 2), Phase.FINISHED),
        node(1, (1, 0), Phase.FINISHED),
        node(2, (-1, -1), is_stopped=True),
        node(3, (1, 0)),
    ]
    assert ended_early(nodes, 1, 0) == {2}
    assert ended_early(nodes, 1, 1) == {1, 2}
