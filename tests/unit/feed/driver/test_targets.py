from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from hopyard.errors import FeedJobFailed, NodesReplaced, NotFed
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.node.service import COUNTS
from hopyard.protocol.node_status import Phase

from .scripted_run import ScriptedRun, Servers, fed, node, standing

pytestmark = pytest.mark.unit

WHAT = {"feed": 0, "epoch": 0}


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as resources:
        yield Servers(resources)


# --- who is there ----------------------------------------------------------------------------------


def test_nodes_are_fed_once_all_have_asked_for_rows() -> None:
    run = ScriptedRun(
        standing(),
        standing(node(0, Phase.ARRIVED, ""), node(1, Phase.AWAITED, "")),
        standing(node(0), node(1, address="")),
        standing(node(0), node(1), node(2, address="")),
    )
    team = fed(run).gather(10)
    assert [each.rank for each in team.nodes] == [0, 1]


def test_nodes_that_have_returned_are_not_waited_for() -> None:
    team = fed(ScriptedRun(standing(), standing(node(0, Phase.FINISHED, ""), node(1)))).gather(10)
    assert [each.rank for each in team.nodes] == [1]


@pytest.mark.parametrize(
    "failing",
    [
        standing(node(0, Phase.KILLED), node(1, Phase.FAILED)),
        standing(node(0), node(1, is_stopped=True, has_failed=True)),
        standing(node(0, Phase.FINISHED), node(1, Phase.LOST)),
    ],
    ids=["ended", "failing", "lost"],
)
def test_nodes_that_failed_are_waited_for_until_they_are_started_again(failing: GroupStatus) -> None:
    again = standing(node(0, Phase.AWAITED, ""), node(1, Phase.AWAITED, ""), attempt=1)
    run = ScriptedRun(failing, failing, again, standing(node(0), node(1), attempt=1))
    team = fed(run).gather(0)
    assert (team.attempt, len(team.nodes)) == (1, 2)


def test_what_ended_the_run_is_raised_to_those_who_wait_for_nodes() -> None:
    run = ScriptedRun(standing(node(0, Phase.FAILED)), error=ArithmeticError("no luck"))
    with pytest.raises(ArithmeticError, match="no luck"):
        fed(run).gather(10)


def test_there_is_nobody_to_feed_after_a_run_that_ended_well() -> None:
    done = standing(node(0, Phase.FINISHED), node(1, Phase.FINISHED))
    assert fed(ScriptedRun(done)).gather(10).nodes == ()


def test_nodes_that_never_ask_for_rows_are_named() -> None:
    run = ScriptedRun(standing(node(0), node(1, address="")), ends=False)
    with pytest.raises(NotFed, match=r"0\.01 s after their start .* take no rows .*: node 1 on there"):
        fed(run).gather(0.01)


def test_who_feeds_earlier_nodes_does_not_know_the_token_of_later_ones() -> None:
    tokens = {
        fed(ScriptedRun(standing())).team(standing(node(0), attempt=attempt)).nodes[0].endpoint.token
        for attempt in (0, 1)
    }
    assert len(tokens) == 2


# --- why they take no rows -------------------------------------------------------------------------


def test_a_failed_node_is_waited_for_until_others_take_its_place() -> None:
    run = ScriptedRun(
        standing(node(0), node(1)),
        standing(node(0), node(1, Phase.FAILED)),
        standing(node(0, Phase.AWAITED, ""), node(1, Phase.AWAITED, ""), attempt=1),
    )
    with pytest.raises(NodesReplaced) as replaced:
        fed(run).await_verdict(0)
    assert replaced.value.attempt == 1


def test_nodes_that_have_had_enough_explain_why_they_take_no_rows() -> None:
    going_on = standing(node(0), node(1))
    run = ScriptedRun(going_on, standing(node(0, is_stopped=True), node(1)), ends=False)
    fed(run).await_verdict(0, [0])


def test_what_ended_the_run_explains_why_nodes_take_no_rows() -> None:
    run = ScriptedRun(standing(node(0), node(1, Phase.FAILED)), error=ArithmeticError("no luck"))
    with pytest.raises(ArithmeticError, match="no luck"):
        fed(run).await_verdict(0)


def test_nodes_that_go_on_and_take_no_rows_are_named() -> None:
    run = ScriptedRun(standing(node(0, is_stopped=True), node(1)), ends=False)
    with pytest.raises(FeedJobFailed, match="node 1 on there: taking no rows"):
        fed(run, verdict_seconds=0.01).await_verdict(0, [1])


# --- asking them -----------------------------------------------------------------------------------


def test_nodes_are_asked_until_they_answer(servers: Servers) -> None:
    _, address = servers.start()
    here = standing(node(0, address=address))
    run = ScriptedRun(here, ends=False)
    nodes = fed(run, 0)
    assert nodes.ask(nodes.team(here), COUNTS, lambda _: WHAT) == {0: {"partitions": [], "stopped": False}}


def test_a_node_that_does_not_answer_and_failed_is_not_taken_for_one_that_had_enough(
    servers: Servers,
) -> None:
    _, address = servers.start()
    before = standing(node(0, address=address), node(1))
    failing = standing(node(0, address=address), node(1, Phase.FAILED))
    nodes = fed(ScriptedRun(before, before, failing, standing(node(0), node(1), attempt=1)))
    with pytest.raises(NodesReplaced):
        nodes.ask(nodes.team(before), COUNTS, lambda _: WHAT)


def test_a_node_that_has_returned_gives_no_answer(servers: Servers) -> None:
    _, address = servers.start()
    before = standing(node(0, address=address), node(1))
    after = standing(node(0, address=address), node(1, Phase.FINISHED))
    nodes = fed(ScriptedRun(before, after, ends=False))
    assert list(nodes.ask(nodes.team(before), COUNTS, lambda _: WHAT)) == [0]
