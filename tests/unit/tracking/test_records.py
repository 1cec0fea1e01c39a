from __future__ import annotations

import pytest

from hopyard.tracking import RunId, RunRecord, RunState
from hopyard.tracking.records import HEARTBEATS_UNTIL_LOST

pytestmark = pytest.mark.unit

HEARTBEAT = 10.0
LAST_SIGN = 1000.0
LOST_AFTER = LAST_SIGN + HEARTBEATS_UNTIL_LOST * HEARTBEAT


def record(state: RunState) -> RunRecord:
    return RunRecord(
        id=RunId("app", "launcher", 1),
        name="n",
        state=state,
        backend="inline",
        nodes=1,
        user="u",
        version="0",
        started=900.0,
        updated=LAST_SIGN,
        heartbeat_seconds=HEARTBEAT,
    )


def test_a_running_record_is_believed_until_several_heartbeats_are_missed() -> None:
    assert record(RunState.RUNNING).state_at(LOST_AFTER) is RunState.RUNNING


def test_a_running_record_without_heartbeats_is_lost() -> None:
    assert record(RunState.RUNNING).state_at(LOST_AFTER + 0.001) is RunState.LOST


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED, RunState.KILLED])
def test_a_run_that_has_ended_is_never_lost(state: RunState) -> None:
    assert record(state).state_at(LOST_AFTER * 100) is state


def test_a_reader_with_a_slow_clock_sees_a_running_run() -> None:
    assert record(RunState.RUNNING).state_at(LAST_SIGN - 3600) is RunState.RUNNING
