from __future__ import annotations

import pytest

from hopyard.feed.state import STATE, FeedState
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.background import Activity

pytestmark = pytest.mark.unit


class Feed:
    """A node that rows come to, and a clock."""

    def __init__(self, received: int = 0) -> None:
        self._state = FeedState(received=received, consumed=received)
        self._now = 100.0
        self.phase = Phase.RUNNING
        self._activity = Activity(self._nodes, lambda: self._now)

    def after(
        self, seconds: float, received: int = 0, waiting: int = 0, *asking: int, is_stopped: bool = False
    ) -> bool:
        """Tells whether it is worth showing, some seconds later, that more rows have come, and some wait."""
        self._now += seconds
        received += self._state.received
        self._state = FeedState(
            received=received, consumed=received - waiting, asking=asking, is_stopped=is_stopped
        )
        return self._activity()

    def _nodes(self) -> tuple[NodeStatus, ...]:
        return (
            NodeStatus(rank=0, role="chief", phase=self.phase, notes={STATE: self._state.to_note()}),
            NodeStatus(rank=1, role="ps", phase=Phase.RUNNING),
        )


def test_rows_that_came_before_are_of_no_interest() -> None:
    feed = Feed(received=1_000)
    assert not any(feed.after(0.6) for _ in range(10))


def test_rows_that_keep_coming_are_shown_until_they_cease() -> None:
    feed = Feed()
    assert [feed.after(0.6, received=5) for _ in range(3)] == [False, False, True]
    assert [feed.after(1.2) for _ in range(4)] == [True, True, False, False]


def test_a_few_rows_at_once_are_not_worth_it() -> None:
    feed = Feed()
    assert not feed.after(0.5, received=5)
    assert not any(feed.after(0.5) for _ in range(10))


def test_rows_that_wait_are_shown_as_long_as_they_do() -> None:
    feed = Feed()
    assert [feed.after(60, 50, 40), feed.after(60, 0, 40), feed.after(60, 0, 10)] == [False, True, True]
    assert not feed.after(60)


def test_tasks_that_wait_for_results_are_shown_as_long_as_they_do() -> None:
    feed = Feed()
    assert [feed.after(60, 50, 0, 3), feed.after(60, 0, 0, 3), feed.after(60)] == [False, True, False]


def test_rows_of_a_node_that_takes_no_more_wait_for_nobody() -> None:
    feed = Feed()
    assert not any(feed.after(60, 0, 40, 3, is_stopped=True) for _ in range(4))
    feed.phase = Phase.FAILED
    assert not any(feed.after(60, 0, 40, 3) for _ in range(4))
