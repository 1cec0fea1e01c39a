from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from hopyard.errors import CorruptRecord
from hopyard.store import Project
from hopyard.tracking import NodeWriter, RunReader
from hopyard.tracking.logs.node_log import LogCursor, log_attempts
from hopyard.tracking.paths import attempt_log, run_paths

pytestmark = pytest.mark.unit

LINES = [f"line {number}" for number in range(8)]


class WatchedProject(Project):
    """A project that calls `look` right before and after each change of the store."""

    look: Callable[[], object] = staticmethod(lambda: None)

    def write_chunks(self, relative, chunks, *, overwrite):
        self.look()
        super().write_chunks(relative, chunks, overwrite=overwrite)
        self.look()

    def remove(self, relative, recursive=False):
        self.look()
        super().remove(relative, recursive)
        self.look()


class InterruptedProject(Project):
    """A project that calls `interrupt` once, right before the look at the store with the given number."""

    countdown: int
    interrupt: Callable[[], object]

    def exists(self, relative=""):
        self._count()
        return super().exists(relative)

    def list(self, relative=""):
        self._count()
        return super().list(relative)

    def read(self, relative):
        self._count()
        return super().read(relative)

    def _count(self):
        self.countdown -= 1
        if self.countdown == 0:
            self.interrupt()


class StoreAwayError(OSError):
    """The store stopped answering."""


def failing_after(steps: int) -> Callable[[], None]:
    left = iter(range(steps))

    def step() -> None:
        if next(left, None) is None:
            raise StoreAwayError

    return step


def write(node: NodeWriter, lines: list[str], per_segment: int = 2) -> NodeWriter:
    for number, line in enumerate(lines, start=1):
        node.log(line)
        if number % per_segment == 0:
            node.flush()
    node.flush()
    return node


def cursor_of(project: Project, run_id) -> LogCursor:
    return LogCursor(project, run_paths(project, run_id), 0)


def read(cursor: LogCursor) -> list[str]:
    return [line.decode() for line in cursor.read()]


def test_at_every_step_of_joining_a_reader_finds_each_line_once(tmp_path: Path, begin):
    project = WatchedProject(str(tmp_path), "demo")
    run_id = begin().id
    node = write(NodeWriter(project, run_id, 0), LINES)
    steps: list[list[str]] = []
    project.look = lambda: steps.append(list(RunReader(project, run_id).log()))
    node.close()
    project.look = lambda: None
    assert len(steps) >= 10
    assert all(seen == LINES for seen in steps)


def test_a_cursor_that_looks_at_every_step_of_joining_repeats_nothing(tmp_path: Path, begin):
    project = WatchedProject(str(tmp_path), "demo")
    run_id = begin().id
    node = write(NodeWriter(project, run_id, 0), LINES[:5])
    cursor = cursor_of(project, run_id)
    seen = read(cursor)
    write(node, LINES[5:])
    project.look = lambda: seen.extend(read(cursor))
    node.close()
    assert seen == LINES


@pytest.mark.parametrize("consumed", range(len(LINES) + 1))
def test_a_log_joined_in_the_midst_of_a_read_gives_each_line_once(project, begin, consumed):
    run_id = begin().id
    node = write(NodeWriter(project, run_id, 0), LINES)
    reading = cursor_of(project, run_id).read()
    seen = [next(reading) for _ in range(consumed)]
    node.close()
    seen += reading
    assert [line.decode() for line in seen] == LINES


@pytest.mark.parametrize("steps", [2, 4, 6, 8])  # written, and one, two, three segments removed
def test_joining_that_gets_so_far_between_any_two_looks_of_a_reader_is_not_seen(tmp_path: Path, begin, steps):
    for look in range(1, 10):
        writing, reading = WatchedProject(str(tmp_path), "demo"), InterruptedProject(str(tmp_path), "demo")
        run_id = begin().id
        node = write(NodeWriter(writing, run_id, 0), LINES[:3], per_segment=1)
        writing.look = failing_after(steps)

        def join(node=node):
            with contextlib.suppress(StoreAwayError):  # that far and no further
                node.close()

        reading.countdown, reading.interrupt = look, join
        assert list(RunReader(reading, run_id).log()) == LINES[:3], f"joined at look {look}"
        assert list(RunReader(reading, run_id).log()) == LINES[:3], f"joined before, at look {look}"


def test_a_cursor_goes_on_where_it_was(project, begin):
    run_id = begin().id
    cursor = cursor_of(project, run_id)
    assert read(cursor) == []
    with NodeWriter(project, run_id, 0) as node:
        write(node, LINES[:3])
        assert read(cursor) == LINES[:3]
        write(node, LINES[3:])
        assert read(cursor) == LINES[3:]
    assert read(cursor) == []


def test_each_attempt_adds_to_the_log(project, begin):
    run_id = begin().id
    cursor = cursor_of(project, run_id)
    for attempt, line in enumerate(LINES):
        node = write(NodeWriter(project, run_id, 0, attempt), [line])
        if attempt % 2:  # the others were killed
            node.close()
    assert list(RunReader(project, run_id).log()) == LINES
    assert read(cursor) == LINES


def test_attempts_come_in_their_order_from_the_tenth_on_too(project, begin):
    run_id = begin().id
    for attempt in range(12):
        with NodeWriter(project, run_id, 1, attempt) as node:
            node.log(str(attempt))
    assert list(RunReader(project, run_id).log(1)) == [str(attempt) for attempt in range(12)]


@pytest.mark.parametrize("closed", [False, True])
def test_an_attempt_in_which_a_node_was_silent_hides_no_later_one(project, begin, closed):
    run_id = begin().id
    cursor = cursor_of(project, run_id)
    seen = []
    for attempt in (2, 5):
        node = write(NodeWriter(project, run_id, 0, attempt), [f"attempt {attempt}"])
        if closed:
            node.close()
        seen += read(cursor)
    assert seen == list(RunReader(project, run_id).log()) == ["attempt 2", "attempt 5"]


def test_the_log_of_one_attempt_is_had_alone(project, begin):
    run_id = begin().id
    for attempt in range(3):
        write(NodeWriter(project, run_id, 0, attempt), [f"attempt {attempt}"])
    reader = RunReader(project, run_id)
    assert [list(reader.log(attempt=attempt)) for attempt in range(4)] == [
        ["attempt 0"], ["attempt 1"], ["attempt 2"], [],
    ]  # fmt: skip


def test_files_of_other_nodes_and_of_the_user_are_no_attempts(project, begin):
    run_id = begin().id
    paths = run_paths(project, run_id)
    write(NodeWriter(project, run_id, 0), ["mine"])
    write(NodeWriter(project, run_id, 10, 3), ["another node's"])
    for name in ("logfile.1.user", "logfiles", "logs/notes.txt"):
        project.put(f"{paths.folder}/{name}", b"not a log\n")
    assert log_attempts(project, paths, 0) == [0]
    assert list(RunReader(project, run_id).log()) == ["mine"]


@pytest.mark.parametrize("look", [1, 2, 3])
def test_an_attempt_is_found_though_it_ends_between_two_looks(tmp_path: Path, begin, look):
    run_id = begin().id
    reading, writing = InterruptedProject(str(tmp_path), "demo"), Project(str(tmp_path), "demo")
    paths = run_paths(writing, run_id)
    node = write(NodeWriter(writing, run_id, 0, 1), LINES)

    def end():
        node.close()
        writing.remove(paths.node_logs(0, 1))  # as in a store that has no empty folders

    reading.countdown, reading.interrupt = look, end
    assert log_attempts(reading, paths, 0) == [1]


def test_the_end_of_a_log_is_had_alone(project, begin):
    run_id = begin().id
    write(NodeWriter(project, run_id, 0), LINES[:3])
    write(NodeWriter(project, run_id, 0, 1), LINES[3:])
    reader = RunReader(project, run_id)
    assert list(reader.log(tail=6)) == LINES[-6:]
    assert list(reader.log(tail=100)) == LINES
    assert list(reader.log(tail=0)) == []
    assert list(reader.log(attempt=0, tail=2)) == LINES[1:3]


def test_a_joined_log_leaves_one_file_and_no_segments(project, begin):
    run_id = begin().id
    write(NodeWriter(project, run_id, 0), LINES).close()
    paths = run_paths(project, run_id)
    assert project.read(paths.node_logfile(0)).decode().splitlines() == LINES
    assert [entry for entry in project.walk(paths.folder) if entry.path.endswith(".log")] == []


def test_joining_that_was_cut_short_is_taken_up_again(tmp_path: Path, begin):
    project = WatchedProject(str(tmp_path), "demo")
    run_id = begin().id
    node = write(NodeWriter(project, run_id, 0), LINES)
    project.look = failing_after(5)
    with pytest.raises(StoreAwayError):
        node.close()
    project.look = lambda: None
    assert list(RunReader(project, run_id).log()) == LINES
    node.close()
    assert list(RunReader(project, run_id).log()) == LINES


def test_a_missing_segment_is_told_and_not_skipped(project, begin):
    run_id = begin().id
    write(NodeWriter(project, run_id, 0), LINES)
    segments = attempt_log(run_paths(project, run_id), 0, 0).segments
    project.remove(project.list(segments)[1].path)
    reading = RunReader(project, run_id).log()
    assert [next(reading), next(reading)] == LINES[:2]
    with pytest.raises(CorruptRecord, match="segment 2 is missing"):
        next(reading)


def test_lines_of_an_attempt_never_come_before_those_that_its_predecessor_wrote(project, begin):
    run_id = begin().id
    first = write(NodeWriter(project, run_id, 0), LINES[:2])
    cursor = cursor_of(project, run_id)
    reading = cursor.read()
    seen = [next(reading)]
    write(first, LINES[2:4])  # then it is killed, and started again, all while the reader reads
    write(NodeWriter(project, run_id, 0, 1), LINES[4:])
    seen += reading
    assert [line.decode() for line in seen] == LINES[:2]
    assert read(cursor) == LINES[2:]


def test_an_attempt_that_starts_between_any_two_looks_of_a_reader_is_seen_whole_or_not_yet(tmp_path, begin):
    for look in range(1, 12):
        reading = InterruptedProject(str(tmp_path), "demo")
        run_id = begin().id
        first = write(NodeWriter(Project(str(tmp_path), "demo"), run_id, 0), LINES[:3], per_segment=1)

        def restart(first=first, run_id=run_id):
            write(first, LINES[3:5], per_segment=1).close()
            write(NodeWriter(Project(str(tmp_path), "demo"), run_id, 0, 1), LINES[5:])

        reading.countdown, reading.interrupt = look, restart
        cursor = cursor_of(reading, run_id)
        seen = read(cursor)
        assert seen == LINES[: len(seen)], f"started at look {look}"
        if reading.countdown > 0:  # the read was over before
            reading.countdown = 0
            restart()
        assert seen + read(cursor) + read(cursor) == LINES, f"started at look {look}"
