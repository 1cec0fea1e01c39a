from __future__ import annotations

import threading
import time

import pytest

from hopyard.errors import CorruptRecord, InvalidName, RunNotFound
from hopyard.tracking import MetricPoint, NodeOutcome, NodeState, NodeWriter, RunId, RunReader, RunState
from hopyard.tracking.paths import run_paths

pytestmark = pytest.mark.unit

SOON = 0.01
GONE = RunId("app-1", "launcher", 99)


def outcome(rank: int, state: NodeState = NodeState.FINISHED) -> NodeOutcome:
    return NodeOutcome(rank=rank, role="worker", host="h", state=state, started=1.0, ended=2.0)


def test_a_run_is_named_by_its_id_or_the_text_of_it(project, begin):
    run = begin()
    assert RunReader(project, str(run.id)).record() == RunReader(project, run.id).record()


def test_a_text_that_is_no_id_is_refused(project):
    with pytest.raises(InvalidName):
        RunReader(project, "run.1")


def test_a_run_that_is_not_there_is_not_found(project):
    with pytest.raises(RunNotFound, match=r"app-1/launcher/run\.99"):
        RunReader(project, GONE).record()


def test_a_damaged_record_is_told_with_its_path(project, begin):
    run = begin()
    path = run_paths(project, run.id).record
    project.put(path, project.read(path)[:50])
    with pytest.raises(CorruptRecord, match=path):
        RunReader(project, run.id).record()


def test_a_silent_run_is_lost_to_readers_but_not_in_its_record(project, begin):
    run = begin(heartbeat_seconds=10.0)
    reader = RunReader(project, run.id)
    assert reader.state(now=1050.0) is RunState.RUNNING
    assert reader.state(now=1051.0) is RunState.LOST
    assert reader.record().state is RunState.RUNNING


def test_a_run_that_wrote_nothing_has_no_lines_points_or_outcomes(project, begin):
    reader = RunReader(project, begin().id)
    assert list(reader.log()) == []
    assert len(reader.metrics()) == 0
    assert len(reader.outcomes()) == 0


def test_metrics_of_all_nodes_come_rank_by_rank(project, begin):
    run = begin()
    for rank in (10, 2):
        with NodeWriter(project, run.id, rank) as node:
            node.metric(MetricPoint(name="loss", step=1, value=0.5, time=1.0, rank=rank))
    assert [point.rank for point in RunReader(project, run.id).metrics()] == [2, 10]


def test_a_damaged_point_is_reported_beside_the_good_ones(project, begin):
    run = begin()
    with NodeWriter(project, run.id, 0) as node:
        for step in (1, 2):
            node.metric(MetricPoint(name="loss", step=step, value=0.5, time=1.0))
    folder = run_paths(project, run.id).node_metrics(0)
    good = project.read(project.list(folder)[0].path).splitlines(keepends=True)
    project.put(f"{folder}/00001.jsonl", good[0] + b'{"name": 7}\n' + good[1])
    found = RunReader(project, run.id).metrics("loss")
    assert [point.step for point in found] == [1, 2]
    assert [error.path for error in found.corrupt] == [f"{folder}, segment 1, line 2"]


def test_a_damaged_outcome_is_reported_beside_the_good_ones(project, begin):
    run = begin()
    for rank in range(3):
        NodeWriter(project, run.id, rank).outcome(outcome(rank))
    project.put(run_paths(project, run.id).outcome(1), b"")
    found = RunReader(project, run.id).outcomes()
    assert [each.rank for each in found] == [0, 2]
    assert [error.path for error in found.corrupt] == [run_paths(project, run.id).outcome(1)]


def test_outcomes_are_in_the_order_of_ranks(project, begin):
    run = begin()
    for rank in (0, 10, 2):
        NodeWriter(project, run.id, rank).outcome(outcome(rank))
    assert [each.rank for each in RunReader(project, run.id).outcomes()] == [0, 2, 10]


def test_outcomes_are_those_of_each_nodes_last_end_unless_an_attempt_is_named(project, begin):
    run = begin()
    ends = {(0, 0): NodeState.KILLED, (1, 0): NodeState.FAILED, (0, 1): NodeState.FINISHED}
    for (rank, attempt), state in ends.items():
        NodeWriter(project, run.id, rank, attempt).outcome(outcome(rank, state))
    reader = RunReader(project, run.id)

    def states(attempt: int | None = None) -> list[tuple[int, NodeState]]:
        return [(each.rank, each.state) for each in reader.outcomes(attempt)]

    assert states() == [(0, NodeState.FINISHED), (1, NodeState.FAILED)]
    assert states(0) == [(0, NodeState.KILLED), (1, NodeState.FAILED)]
    assert states(1) == [(0, NodeState.FINISHED)]
    assert states(2) == []


def test_the_latest_metrics_are_those_of_the_last_attempt(project, begin):
    run = begin()
    for attempt, steps in ((0, range(5)), (1, range(2))):
        node = NodeWriter(project, run.id, 1, attempt)
        for step in steps:
            node.metric(MetricPoint(name="loss", step=step, value=0.5, time=1.0, rank=1))
            node.flush()
    latest = RunReader(project, run.id).latest_metrics(1)
    assert [(point.attempt, point.step) for point in latest] == [(1, 1)]
    assert len(RunReader(project, run.id).latest_metrics(0)) == 0


# --- following ---


def test_following_an_ended_run_gives_its_log_and_ends(project, begin):
    with begin() as run, NodeWriter(project, run.id, 0) as node:
        node.log("all")
    assert list(RunReader(project, run.id).follow()) == ["all"]


def test_following_gives_lines_as_they_come_and_ends_with_the_run(project, begin, clock):
    run = begin()
    node = NodeWriter(project, run.id, 0)
    following = RunReader(project, run.id).follow(poll_seconds=SOON, clock=clock)
    seen = []
    for number in range(5):
        node.log(f"line {number}")
        node.flush()
        seen.append(next(following))
    node.log("the last")
    node.close()
    run.finish(RunState.FINISHED)
    assert [*seen, *following] == [*(f"line {number}" for number in range(5)), "the last"]


def test_a_writer_in_another_thread_is_followed_without_loss_or_repetition(project, begin, clock):
    run = begin()

    def write() -> None:
        with run:
            for attempt in range(4):
                with NodeWriter(project, run.id, 0, attempt) as node:
                    for number in range(20):
                        node.log(str(number))
                        node.flush()

    writing = threading.Thread(target=write)
    writing.start()
    seen = list(RunReader(project, run.id).follow(poll_seconds=0.001, clock=clock))
    writing.join()
    assert seen == [str(number) for number in range(20)] * 4


def test_following_a_lost_run_ends(project, begin):
    run = begin(heartbeat_seconds=1.0)
    assert list(RunReader(project, run.id).follow(clock=lambda: 2000.0)) == []


def test_following_ends_at_once_when_told_to_stop(project, begin, clock):
    run = begin()
    stop = threading.Event()
    timer = threading.Timer(0.05, stop.set)
    timer.start()
    started = time.monotonic()
    assert list(RunReader(project, run.id).follow(stop=stop, poll_seconds=60.0, clock=clock)) == []
    assert time.monotonic() - started < 30
    timer.join()


def test_several_nodes_are_followed_at_once_each_in_its_order(project, begin, clock):
    run = begin(nodes=3)
    following = RunReader(project, run.id).follow_nodes(range(3), poll_seconds=SOON, clock=clock)
    nodes = [NodeWriter(project, run.id, rank) for rank in range(3)]
    seen = []
    for number in range(4):
        for node in nodes:
            node.log(str(number))
            node.flush()
        seen += [next(following) for _ in nodes]
    run.finish(RunState.FINISHED)
    assert list(following) == []
    assert [(line.rank, line.text) for line in seen] == [
        (rank, str(number)) for number in range(4) for rank in range(3)
    ]


def test_following_begins_with_the_last_lines_of_each_node_if_asked(project, begin, clock):
    run = begin()
    nodes = [NodeWriter(project, run.id, rank) for rank in range(2)]
    for node in nodes:
        for number in range(5):
            node.log(str(number))
        node.flush()
    following = RunReader(project, run.id).follow_nodes(range(2), tail=2, poll_seconds=SOON, clock=clock)
    assert [next(following).text for _ in range(4)] == ["3", "4", "3", "4"]
    for number in range(5, 9):
        nodes[1].log(str(number))
    nodes[1].close()
    run.finish(RunState.FINISHED)
    assert [line.text for line in following] == ["5", "6", "7", "8"]


def test_following_one_attempt_ends_when_the_next_one_begins(project, begin, clock):
    run = begin()
    first, second = (NodeWriter(project, run.id, 0, attempt) for attempt in range(2))
    following = RunReader(project, run.id).follow(attempt=0, poll_seconds=SOON, clock=clock)
    first.log("one")
    first.flush()
    assert next(following) == "one"
    first.log("two")
    first.close()
    run.restarted(1, "it failed")
    second.log("three")
    second.close()
    assert list(following) == ["two"]
    assert run.record.state is RunState.RUNNING


def test_following_a_run_that_is_not_there_says_so(project):
    with pytest.raises(RunNotFound):
        next(RunReader(project, GONE).follow())
