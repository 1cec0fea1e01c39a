from __future__ import annotations

from pathlib import Path

import pytest

from hopyard import Project
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeState, NodeWriter, RunId, RunReader, RunWriter
from hopyard.worker.detach.lost_outcome import absent_outcome, lost_outcome, undelivered_outcome
from hopyard.worker.tail import TAIL_LINES
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit


def task(attempt: int = 0, app_id: str = "app") -> NodeTask:
    plan = Plan.of(2)
    return NodeTask(
        node=plan.nodes[1],
        plan=plan,
        run_id=RunId(app_id, "launcher", 1),
        project=Project.open(),
        payload=b"",
        attempt=attempt,
    )


@pytest.fixture
def run() -> RunWriter:
    return RunWriter.begin(Project.open(), app_id="app", kind="launcher", name="r", nodes=2, backend="spark")


def say(task: NodeTask, lines: int) -> None:
    """Lets a node print something that reaches the project before it vanishes."""
    writer = NodeWriter(task.project, task.run_id, task.node.rank, task.attempt)
    for number in range(lines):
        writer.log(f"attempt {task.attempt}, line {number}")
    writer.flush()


def test_the_outcome_of_a_lost_node_says_why_and_has_its_last_lines(run: RunWriter) -> None:
    say(task(), TAIL_LINES + 5)
    record = lost_outcome(task(), "there", "its executor was lost").record
    assert (record.rank, record.role, record.host) == (1, "worker", "there")
    assert (record.state, record.exit_code, record.message) == (
        NodeState.FAILED,
        None,
        "its executor was lost",
    )
    assert len(record.tail) == TAIL_LINES
    assert record.tail[-1] == f"attempt 0, line {TAIL_LINES + 4}"


def test_it_is_stored_in_the_stead_of_the_node(run: RunWriter) -> None:
    record = lost_outcome(task(), "there", "its executor was lost").record
    (stored,) = RunReader(Project.open(), run.id).outcomes()
    assert stored == record


def test_the_last_lines_are_those_of_the_attempt_that_was_lost(run: RunWriter) -> None:
    say(task(), 2)
    run.restarted(1, "node 1 failed")
    say(task(attempt=1), 1)
    record = lost_outcome(task(attempt=1), "there", "lost").record
    assert (record.attempt, record.tail[-1]) == (1, "attempt 1, line 0")


def test_a_store_that_is_away_does_not_hide_that_a_node_was_lost(
    run: RunWriter, caplog: pytest.LogCaptureFixture
) -> None:
    Path(Project.open().path).rename(Path(Project.open().root, "away"))
    Path(Project.open().path).write_text("in the way")
    outcome = lost_outcome(task(), "there", "its executor was lost")
    assert outcome.record.message == "its executor was lost"
    assert "the end of node 1 (worker) could not be stored" in caplog.text


def test_of_a_node_that_printed_nothing_other_lines_are_shown(run: RunWriter) -> None:
    assert lost_outcome(task(), "there", "killed", ("of its supervisor",)).record.tail == (
        "of its supervisor",
    )


def test_a_value_that_got_lost_makes_a_node_that_was_done_a_failed_one(run: RunWriter) -> None:
    record = undelivered_outcome(task(), task().finished(1.0), "no room").record
    assert (record.state, record.message) == (
        NodeState.FAILED,
        "its value did not reach the driver (no room)",
    )
    assert list(RunReader(Project.open(), run.id).outcomes()) == [record]


def test_a_node_that_never_came_was_not_the_one_that_failed() -> None:
    record = absent_outcome(task()).record
    assert (record.state, record.message) == (NodeState.KILLED, "it had not arrived when the run ended")
