from __future__ import annotations

import pickle
import threading

import psutil
import pytest

from hopyard.errors import StoreFailed
from hopyard.store import Project
from hopyard.tracking import MetricPoint, NodeOutcome, NodeState, NodeWriter, RunReader
from hopyard.tracking.paths import run_paths

pytestmark = pytest.mark.unit


def point(step: int, **changes: object) -> MetricPoint:
    return MetricPoint(**({"name": "loss", "step": step, "value": 0.5, "time": 1.0} | changes))  # type: ignore[arg-type]


def outcome(rank: int, state: NodeState = NodeState.FINISHED) -> NodeOutcome:
    return NodeOutcome(rank=rank, role="worker", host="h", state=state, exit_code=0, started=1.0, ended=2.0)


def test_a_writer_that_is_not_used_writes_nothing(project, begin):
    run = begin()
    before = list(project.walk())
    NodeWriter(project, run.id, 0).close()
    assert list(project.walk()) == before


def test_the_log_of_the_chief_is_in_the_folder_of_the_run(project, begin):
    run = begin()
    with NodeWriter(project, run.id, 0) as node:
        node.log("hello")
    assert project.read(run_paths(project, run.id).node_logfile(0)) == b"hello\n"


def test_the_log_of_another_node_is_in_a_folder_of_its_own(project, begin):
    run = begin()
    with NodeWriter(project, run.id, 3) as node:
        node.log("hello")
    assert project.read(f"{run_paths(project, run.id).folder}/node.3/logfile") == b"hello\n"
    assert list(RunReader(project, run.id).log(3)) == ["hello"]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("", ""),
        (b"with end\n", "with end"),
        ("grün ☃", "grün ☃"),
        ("a lone \ud800 surrogate", "a lone \\ud800 surrogate"),
        (b"not \xff utf-8", "not \ufffd utf-8"),
        (b"50%\r100%", "50%\r100%"),
        ("a\x0bb\x85c\u2028d", "a\x0bb\x85c\u2028d"),
    ],
)
def test_a_line_is_read_as_it_was_written(project, begin, line, read):
    run = begin()
    with NodeWriter(project, run.id, 0) as node:
        node.log(line)
        node.flush()
        assert list(RunReader(project, run.id).log()) == [read]
    assert list(RunReader(project, run.id).log()) == [read]


def test_metrics_come_back_in_order_and_by_name(project, begin):
    run = begin()
    with NodeWriter(project, run.id, 0) as node:
        for step in range(3):
            node.metric(point(step))
            node.metric(point(step, name="accuracy"))
            node.flush()
    assert [each.step for each in RunReader(project, run.id).metrics("loss")] == [0, 1, 2]
    assert len(RunReader(project, run.id).metrics()) == 6


def test_metrics_of_all_attempts_are_kept_and_told_apart(project, begin):
    run = begin()
    for attempt in (0, 2, 10):
        with NodeWriter(project, run.id, 1, attempt) as node:
            node.metric(point(attempt, rank=1))
    found = RunReader(project, run.id).metrics()
    assert [(each.rank, each.attempt, each.step) for each in found] == [(1, 0, 0), (1, 2, 2), (1, 10, 10)]


def test_a_second_writer_of_an_attempt_adds_to_its_metrics(project, begin):
    run = begin()
    for step in range(2):
        with NodeWriter(project, run.id, 1) as node:
            node.metric(point(step, rank=1))
    assert [(each.rank, each.step) for each in RunReader(project, run.id).metrics()] == [(1, 0), (1, 1)]


def test_an_outcome_comes_back(project, begin):
    run = begin()
    failed = outcome(0, NodeState.FAILED)
    NodeWriter(project, run.id, 0).outcome(failed)
    assert list(RunReader(project, run.id).outcomes()) == [failed]


def test_an_outcome_tells_its_attempt(project, begin):
    run = begin()
    NodeWriter(project, run.id, 0, 3).outcome(outcome(0))
    assert [each.attempt for each in RunReader(project, run.id).outcomes()] == [3]


@pytest.mark.parametrize(("value", "text"), [(0.25, b"0.25"), ("done", b"done")])
def test_the_final_metric_is_text_where_the_old_library_had_it(project, begin, value, text):
    run = begin(app_id="application_1_0002")
    NodeWriter(project, run.id, 0).final_metric(value)
    assert project.read("Logs/TensorFlow/application_1_0002/launcher/run.1/metric") == text


def test_a_pickled_writer_starts_afresh_where_it_arrives(project, begin):
    run = begin()
    node = NodeWriter(project, run.id, 1)
    node.log("stays at home")
    with pickle.loads(pickle.dumps(node)) as arrived:
        arrived.log("written there")
    assert list(RunReader(project, run.id).log(1)) == ["written there"]


def test_a_pickled_writer_keeps_its_attempt(project, begin):
    run = begin()
    with pickle.loads(pickle.dumps(NodeWriter(project, run.id, 1, 2))) as arrived:
        arrived.log("written there")
    assert list(RunReader(project, run.id).log(1, attempt=2)) == ["written there"]


def test_nothing_is_taken_after_the_end(project, begin):
    run = begin()
    node = NodeWriter(project, run.id, 0)
    node.close()
    with pytest.raises(ValueError, match="closed"):
        node.log("too late")
    with pytest.raises(ValueError, match="closed"):
        node.metric(point(1))


def test_closing_twice_changes_nothing(project, begin):
    run = begin()
    node = NodeWriter(project, run.id, 0)
    node.log("once")
    node.close()
    node.close()
    node.poll()
    assert list(RunReader(project, run.id).log()) == ["once"]


def test_several_threads_may_write_and_poll(project, begin):
    run = begin()
    with NodeWriter(project, run.id, 0) as node:

        def talk(speaker: int) -> None:
            for number in range(50):
                node.log(f"{speaker} {number}")
                node.flush()

        speakers = [threading.Thread(target=talk, args=(speaker,)) for speaker in range(3)]
        for speaker in speakers:
            speaker.start()
        for speaker in speakers:
            speaker.join()
    lines = list(RunReader(project, run.id).log())
    for speaker in range(3):
        mine = [line for line in lines if line.startswith(f"{speaker} ")]
        assert mine == [f"{speaker} {number}" for number in range(50)]


class AwayProject(Project):
    """A project whose store takes nothing while `is_away` is set."""

    is_away = False

    def create(self, relative: str, data: bytes) -> None:
        if self.is_away:
            raise StoreFailed(relative, "the store is away")
        super().create(relative, data)


def test_a_chatty_node_takes_bounded_memory_while_the_store_is_away(project, begin):
    run, away = begin(), AwayProject(project.root, project.name)
    node = NodeWriter(away, run.id, 0)
    away.is_away = True
    node.log("the first line")
    with pytest.raises(StoreFailed):
        node.flush()
    before = psutil.Process().memory_info().rss
    for number in range(160_000):
        node.log(b"%07d " % number + b"x" * 1000)
        node.metric(point(number))
    assert psutil.Process().memory_info().rss - before < 80 << 20
    away.is_away = False
    node.close()
    log = list(RunReader(project, run.id).log(0))
    assert (log[0], log[1][:7]) == ("the first line", "0000000")
    assert log[-2][:7] == "0159999"
    assert [line for line in log if "lines (" in line and "are left out here" in line]
    assert "values of metrics" in log[-1]
    steps = [metric.step for metric in RunReader(project, run.id).metrics()]
    assert (min(steps), max(steps)) == (0, 159_999)
