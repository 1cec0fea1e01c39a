from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopyard.cluster.group_state import GroupState

pytestmark = pytest.mark.unit


def test_a_group_goes_on_while_nobody_fails() -> None:
    group = GroupState(2)
    assert group.beat(0).stop is None
    group.end(1, failed=False)
    assert group.beat(0).stop is None


def test_the_first_failure_stops_all_others_and_names_the_node() -> None:
    group = GroupState(3)
    group.end(1, failed=True)
    group.end(2, failed=True)
    assert group.beat(0).stop == "node 1 failed"


def test_the_first_reason_to_stop_counts() -> None:
    group = GroupState(2)
    group.stop("interrupted")
    group.end(1, failed=True)
    assert group.beat(0).stop == "interrupted"


def test_nodes_count_from_their_first_sign_to_their_end() -> None:
    group = GroupState(2)
    assert group.running == 0
    group.beat(0)
    group.beat(0)
    assert group.running == 1
    group.end(0, failed=False)
    group.beat(0)  # late, from before its end
    assert group.running == 0


def test_a_rank_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="rank 2 is none of the 2 nodes"):
        GroupState(2).beat(2)


EVENTS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["beat", "end", "fail", "stop"])), max_size=30)


@given(EVENTS)
def test_a_group_that_was_stopped_never_goes_on_again(events: list[tuple[int, str]]) -> None:
    group = GroupState(4)
    reason: str | None = None
    for rank, event in events:
        match event:
            case "beat":
                assert group.beat(rank).stop == reason
            case "end":
                group.end(rank, failed=False)
            case "fail":
                group.end(rank, failed=True)
                reason = reason or f"node {rank} failed"
            case "stop":
                group.stop("told")
                reason = reason or "told"
    assert group.beat(0).stop == reason
