from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hopyard.errors import AlreadyExists, StoreFailed
from hopyard.store import Project
from hopyard.tracking import MetricPoint, NodeWriter, RunReader
from hopyard.tracking.paths import attempt_log, run_paths

pytestmark = pytest.mark.unit


class CountingProject(Project):
    """A project that counts what is asked of the store."""

    def __init__(self, root: str, name: str) -> None:
        super().__init__(root, name)
        self.asked: Counter[str] = Counter()

    def _files(self):
        return Counted(super()._files(), self.asked)


class Counted:
    """Passes every call on and counts it."""

    def __init__(self, inner, asked: Counter[str]) -> None:
        self._inner = inner
        self._asked = asked

    def __getattr__(self, name: str):
        self._asked[name] += 1
        return getattr(self._inner, name)


class MoodyProject(Project):
    """A project whose store keeps a file and says that it failed, or just fails, as long as told."""

    forgetful = False
    away = False

    def write_chunks(self, relative, chunks, *, overwrite):
        if self.away:
            raise StoreFailed(relative, "away")
        super().write_chunks(relative, chunks, overwrite=overwrite)
        if self.forgetful:
            raise StoreFailed(relative, "the answer got lost")


@pytest.fixture
def moody(tmp_path: Path) -> MoodyProject:
    return MoodyProject(str(tmp_path), "demo")


def lines(project: Project, run_id) -> list[str]:
    return list(RunReader(project, run_id).log())


def files(project: Project, run_id) -> list[str]:
    folder = run_paths(project, run_id).folder
    return sorted(entry.path.removeprefix(f"{folder}/") for entry in project.walk(folder))


def node_with(project: Project, run_id, *texts: str) -> NodeWriter:
    node = NodeWriter(project, run_id, 0)
    for text in texts:
        node.log(text)
    return node


def close_without_an_answer(moody: MoodyProject, node: NodeWriter) -> None:
    moody.forgetful = True
    with pytest.raises(StoreFailed):
        node.close()
    moody.forgetful = False


def test_a_log_that_was_never_flushed_becomes_a_logfile_at_once(tmp_path: Path, begin):
    project = CountingProject(str(tmp_path), "demo")
    run_id = begin().id
    node_with(project, run_id, "one", "two").close()
    assert project.asked == {"list": 1, "write": 1}
    assert lines(project, run_id) == ["one", "two"]
    assert files(project, run_id) == ["logfile", "run.json"]


def test_a_log_without_a_line_asks_nothing_of_the_store(tmp_path: Path, begin):
    project = CountingProject(str(tmp_path), "demo")
    node_with(project, begin().id).close()
    assert not project.asked


def test_the_first_segment_of_an_attempt_takes_one_look_and_one_write(tmp_path: Path, begin):
    project = CountingProject(str(tmp_path), "demo")
    node_with(project, begin().id, "one").flush()
    assert project.asked == {"list": 1, "write": 1}


def test_nothing_is_written_by_polls_after_the_end(project, begin):
    run_id = begin().id
    node = node_with(project, run_id, "one")
    node.close()
    node.flush()
    assert files(project, run_id) == ["logfile", "run.json"]


def test_a_logfile_whose_writing_failed_is_written_by_the_next_close(moody: MoodyProject, begin):
    run_id = begin().id
    node = node_with(moody, run_id, "one")
    moody.away = True
    with pytest.raises(StoreFailed):
        node.close()
    moody.away = False
    node.close()
    assert lines(moody, run_id) == ["one"]


@pytest.mark.parametrize("flushed", [False, True])
def test_a_logfile_whose_answer_got_lost_is_no_stranger_to_the_next_close(
    moody: MoodyProject, begin, flushed
):
    run_id = begin().id
    node = node_with(moody, run_id, "one")
    if flushed:
        node.flush()
    close_without_an_answer(moody, node)
    node.close()
    assert lines(moody, run_id) == ["one"]
    assert files(moody, run_id) == ["logfile", "run.json"]


def test_lines_that_are_flushed_after_a_failed_close_do_not_come_twice(moody: MoodyProject, begin):
    run_id = begin().id
    node = node_with(moody, run_id, "one")
    close_without_an_answer(moody, node)
    node.flush()
    assert lines(moody, run_id) == ["one"]
    node.close()
    assert lines(moody, run_id) == ["one"]
    assert files(moody, run_id) == ["logfile", "run.json"]


@pytest.mark.parametrize("flushed", [False, True])
def test_a_second_writer_of_an_attempt_goes_on_behind_the_segments_of_the_first(project, begin, flushed):
    run_id = begin().id
    node_with(project, run_id, "one").flush()  # then it is killed
    second = node_with(project, run_id, "two")
    if flushed:
        second.flush()
    second.close()
    assert lines(project, run_id) == ["one", "two"]


@pytest.mark.parametrize("flushed", [False, True])
def test_a_second_writer_of_an_ended_log_says_so_and_keeps_its_lines_in_segments(project, begin, flushed):
    run_id = begin().id
    node_with(project, run_id, "one").close()
    second = node_with(project, run_id, "two")
    if flushed:
        second.flush()
    for _ in range(2):  # asking again does not help
        with pytest.raises(AlreadyExists, match="logfile"):
            second.close()
    log = attempt_log(run_paths(project, run_id), 0, 0)
    assert project.read(log.logfile) == b"one\n"
    assert [project.read(entry.path) for entry in project.list(log.segments)] == [b"two\n"]


def test_metrics_are_stored_though_the_log_cannot_be(project, begin):
    run_id = begin().id
    node_with(project, run_id, "one").close()
    second = node_with(project, run_id, "two")
    second.metric(MetricPoint(name="loss", step=1, value=0.5, time=1.0))
    with pytest.raises(AlreadyExists):
        second.close()
    assert len(RunReader(project, run_id).metrics()) == 1
