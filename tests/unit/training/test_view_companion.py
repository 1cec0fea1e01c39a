from __future__ import annotations

import pytest

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.feed.feed_state import STATE, FeedState
from hopyard.training.view_companion import Activity

pytestmark = pytest.mark.unit


class Feed:
    """A node that is fed, and a clock."""

    def __init__(self, received: int = 0) -> None:
        self.received = received
        self.consumed = received
        self.phase = Phase.RUNNING
        self.now = 0.0

    def nodes(self) -> tuple[NodeStatus, ...]:
        state = FeedState(received=self.received, consumed=self.consumed)
        return (NodeStatus(rank=0, role="chief", phase=self.phase, notes={STATE: state.to_note()}),)

    def clock(self) -> float:
        return self.now

    def pass_on(self, seconds: float, received: int = 0, waiting: int = 0) -> None:
        self.now += seconds
        self.received += received
        self.consumed = self.received - waiting


def test_rows_that_came_before_are_of_no_interest() -> None:
    feed = Feed(received=1_000)
    activity = Activity(feed.nodes, feed.clock)
    feed.pass_on(10)
    assert not activity()


def test_rows_that_keep_coming_are_shown_until_they_cease() -> None:
    feed = Feed()
    activity = Activity(feed.nodes, feed.clock)
    seen = []
    for received in (5, 5, 5, 0, 0, 0, 0, 0, 0, 0):
        feed.pass_on(0.6, received)
        seen.append(activity())
    assert seen == [False, False, True, True, True, True, True, True, False, False]


def test_a_few_rows_at_once_are_not_worth_it() -> None:
    feed = Feed()
    activity = Activity(feed.nodes, feed.clock)
    feed.pass_on(0.5, received=5)
    for _ in range(10):
        assert not activity()
        feed.pass_on(0.5)


def test_rows_that_wait_are_shown_as_long_as_they_do() -> None:
    feed = Feed()
    activity = Activity(feed.nodes, feed.clock)
    feed.pass_on(0.5, received=50, waiting=40)
    assert not activity()
    feed.pass_on(60, waiting=40)
    assert activity()
    feed.pass_on(1)
    assert not activity()


def test_rows_of_a_node_that_has_failed_wait_for_nobody() -> None:
    feed = Feed()
    activity = Activity(feed.nodes, feed.clock)
    feed.pass_on(0.5, received=50, waiting=40)
    activity()
    feed.phase = Phase.FAILED
    activity()
    feed.pass_on(60, waiting=40)
    assert not activity()
