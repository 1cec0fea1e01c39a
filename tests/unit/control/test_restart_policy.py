from __future__ import annotations

import pytest

from hopyard.control.restart_policy import MOST_PORT_RACES, RestartPolicy
from hopyard.tracking import NodeOutcome, NodeState

pytestmark = pytest.mark.unit


def failed(*, port_taken: bool = False) -> NodeOutcome:
    return NodeOutcome(
        rank=0,
        role="chief",
        host="here",
        state=NodeState.FAILED,
        started=0.0,
        ended=1.0,
        port_taken=port_taken,
    )


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_run_is_started_again_as_often_as_was_asked_for(most: int) -> None:
    policy = RestartPolicy(most)
    starts = [policy.may_restart(failed(), has_begun=True) for _ in range(most + 2)]
    assert starts == [True] * most + [False, False]


def test_a_port_that_somebody_else_took_costs_no_restart_a_few_times() -> None:
    policy = RestartPolicy(1)
    for _ in range(MOST_PORT_RACES):
        assert policy.may_restart(failed(port_taken=True), has_begun=False)
    assert policy.may_restart(failed(port_taken=True), has_begun=False)
    assert not policy.may_restart(failed(port_taken=True), has_begun=False)


def test_a_port_that_is_taken_once_nodes_have_reported_is_one_of_the_functions_own() -> None:
    assert not RestartPolicy(0).may_restart(failed(port_taken=True), has_begun=True)


def test_restarts_are_left_after_ports_were_lost() -> None:
    policy = RestartPolicy(1)
    assert policy.may_restart(failed(port_taken=True), has_begun=False)
    assert policy.may_restart(failed(), has_begun=False)
    assert not policy.may_restart(failed(), has_begun=False)
