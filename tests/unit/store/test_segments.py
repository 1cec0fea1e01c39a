import threading
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.errors import StoreFailed
from hopyard.store import Project, SegmentWriter, read_segments

pytestmark = pytest.mark.unit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def project() -> Project:
    return Project.open(f"memory://{uuid4().hex}", "demo")


@pytest.fixture
def clock() -> Clock:
    return Clock()


def stored(project: Project) -> list[tuple[int, bytes]]:
    return [(segment.number, segment.data) for segment in read_segments(project, "metrics/0")]


def test_nothing_is_written_before_it_is_due(project: Project, clock: Clock) -> None:
    writer = SegmentWriter(project, "metrics/0", clock=clock)
    writer.append(b"1")
    clock.now += 0.9
    writer.poll()
    assert stored(project) == []
    clock.now += 0.2
    writer.poll()
    assert stored(project) == [(1, b"1\n")]


def test_many_bytes_do_not_wait(project: Project, clock: Clock) -> None:
    writer = SegmentWriter(project, "metrics/0", clock=clock, max_bytes=10)
    writer.append(b"12345")
    assert not writer.due()
    writer.append(b"6789")
    assert writer.due()


def test_nothing_collected_is_never_due_and_makes_no_segment(project: Project, clock: Clock) -> None:
    writer = SegmentWriter(project, "metrics/0", clock=clock)
    clock.now += 1000
    assert not writer.due()
    writer.flush()
    writer.close()
    assert stored(project) == []


def test_interval_grows_with_the_age_of_the_writer(project: Project, clock: Clock) -> None:
    writer = SegmentWriter(project, "metrics/0", clock=clock)
    for _ in range(36_000):
        clock.now += 1.0
        writer.append(b"line")
        writer.poll()
    writer.close()
    segments = stored(project)
    assert sum(data.count(b"\n") for _, data in segments) == 36_000
    assert 1000 < len(segments) < 1500
    assert b"".join(data for _, data in segments[:30]).count(b"\n") == 30


def test_line_keeps_its_own_newline(project: Project) -> None:
    with SegmentWriter(project, "metrics/0") as writer:
        writer.append(b"a\n")
        writer.append(b"b")
        writer.append(b"")
    assert stored(project) == [(1, b"a\nb\n\n")]


def test_second_writer_goes_on_after_the_last_number(project: Project) -> None:
    for line in (b"1", b"2", b"3"):
        with SegmentWriter(project, "metrics/0") as writer:
            writer.append(line)
    assert stored(project) == [(1, b"1\n"), (2, b"2\n"), (3, b"3\n")]


def test_two_writers_at_once_lose_nothing(project: Project) -> None:
    one, other = (SegmentWriter(project, "metrics/0") for _ in range(2))
    for line in range(10):
        for writer in (one, other):
            writer.append(str(line).encode())
            writer.flush()
    assert sorted(data for _, data in stored(project)) == sorted(f"{n}\n".encode() for n in [*range(10)] * 2)


def test_follower_sees_only_what_is_new(project: Project) -> None:
    writer = SegmentWriter(project, "metrics/0")
    seen = 0
    for line in (b"1", b"2", b"3"):
        writer.append(line)
        writer.flush()
        (segment,) = read_segments(project, "metrics/0", after=seen)
        assert segment.data == line + b"\n"
        seen = segment.number


def test_folder_that_is_not_there_has_no_segments(project: Project) -> None:
    assert stored(project) == []


def test_numbers_of_six_digits_come_after_those_of_five(project: Project) -> None:
    for name in ("100000.jsonl", "99999.jsonl", "00002.jsonl"):
        project.put(f"metrics/0/{name}", name.encode())
    assert [number for number, _ in stored(project)] == [2, 99_999, 100_000]
    with SegmentWriter(project, "metrics/0") as writer:
        writer.append(b"next")
    assert stored(project)[-1] == (100_001, b"next\n")


def test_other_files_in_the_folder_are_no_segments(project: Project) -> None:
    for name in ("notes.txt", "1.jsonl", "00001x.jsonl", "x00001.jsonl", "00007/file"):
        project.put(f"metrics/0/{name}", b"")
    assert stored(project) == []


class FailingProject(Project):
    """A project whose store is away while `down` is set."""

    down = False

    def create(self, relative: str, data: bytes) -> None:
        if self.down:
            raise StoreFailed(relative, "away")
        super().create(relative, data)


def test_lines_survive_a_store_that_is_away_for_a_while() -> None:
    project = FailingProject(f"memory://{uuid4().hex}", "demo")
    writer = SegmentWriter(project, "metrics/0")
    writer.append(b"1")
    project.down = True
    with pytest.raises(StoreFailed):
        writer.flush()
    writer.append(b"2")
    project.down = False
    writer.flush()
    writer.flush()
    assert stored(project) == [(1, b"1\n"), (2, b"2\n")]


def test_a_writer_is_untouched_until_the_store_is_to_keep_something() -> None:
    project = FailingProject(f"memory://{uuid4().hex}", "demo")
    writer = SegmentWriter(project, "metrics/0")
    writer.append(b"1")
    assert writer.untouched
    project.down = True
    with pytest.raises(StoreFailed):
        writer.flush()
    assert not writer.untouched


def test_what_is_not_in_the_store_is_had_from_the_writer() -> None:
    project = FailingProject(f"memory://{uuid4().hex}", "demo")
    writer = SegmentWriter(project, "metrics/0")
    writer.append(b"1")
    project.down = True
    with pytest.raises(StoreFailed):
        writer.flush()
    writer.append(b"2")
    assert writer.collected() == b"1\n2\n"
    project.down = False
    writer.flush()
    assert writer.collected() == b""


class ForgetfulProject(Project):
    """A project whose store keeps a file and says that it failed, while `forgetful` is set."""

    forgetful = False

    def create(self, relative: str, data: bytes) -> None:
        super().create(relative, data)
        if self.forgetful:
            raise StoreFailed(relative, "the answer got lost")


def test_lines_that_a_store_kept_while_it_failed_are_not_repeated() -> None:
    project = ForgetfulProject(f"memory://{uuid4().hex}", "demo")
    writer = SegmentWriter(project, "metrics/0")
    writer.append(b"1")
    project.forgetful = True
    with pytest.raises(StoreFailed):
        writer.flush()
    writer.append(b"2")
    project.forgetful = False
    writer.flush()
    assert stored(project) == [(1, b"1\n"), (2, b"2\n")]


def test_equal_lines_of_an_earlier_writer_are_kept_beside_our_own(project: Project) -> None:
    second = SegmentWriter(project, "metrics/0")
    second.append(b"same")
    second.flush()
    project.put("metrics/0/00002.jsonl", b"same\n")
    second.append(b"same")
    second.flush()
    assert [number for number, _ in stored(project)] == [1, 2, 3]


def test_lines_of_many_threads_all_arrive_whole(project: Project) -> None:
    writer = SegmentWriter(project, "metrics/0", max_bytes=200)
    threads = [threading.Thread(target=append_many, args=(writer, number)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        writer.poll()
    writer.close()
    lines = b"".join(data for _, data in stored(project)).split()
    assert sorted(lines) == sorted(f"{number}-{line}".encode() for number in range(4) for line in range(200))


def append_many(writer: SegmentWriter, number: int) -> None:
    for line in range(200):
        writer.append(f"{number}-{line}".encode())


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=5)))
def test_segments_joined_are_the_lines_in_order(batches: list[list[bytes]]) -> None:
    project = Project.open(f"memory://{uuid4().hex}", "demo")
    for batch in batches:
        with SegmentWriter(project, "metrics/0") as writer:
            for line in batch:
                writer.append(line)
    joined = b"".join(data for _, data in stored(project))
    assert joined == b"".join(line + b"\n" for batch in batches for line in batch)


def left_out(lines: int, size: int) -> bytes:
    return f"({lines} lines, {size} bytes)\n".encode()


def test_of_more_lines_than_there_is_room_for_the_first_and_the_newest_are_stored() -> None:
    project = FailingProject(f"memory://{uuid4().hex}", "demo")
    writer = SegmentWriter(project, "metrics/0", most_bytes=10_000, gap=left_out)
    project.down = True
    for number in range(10_000):
        writer.append(b"%05d" % number)
        if number % 1000 == 0:
            with pytest.raises(StoreFailed):
                writer.flush()
    assert len(writer.collected()) < 10_000
    project.down = False
    writer.flush()
    first, *lines = b"".join(data for _, data in stored(project)).splitlines()
    assert first == b"00000"
    gap = next(place for place, line in enumerate(lines) if line.startswith(b"("))
    beginning, end = [int(line) for line in lines[:gap]], [int(line) for line in lines[gap + 1 :]]
    assert beginning == list(range(1, len(beginning) + 1))
    assert end == list(range(10_000 - len(end), 10_000))
    missing = 10_000 - 1 - len(beginning) - len(end)
    assert lines[gap] == left_out(missing, missing * 6).strip()
    assert min(len(beginning), len(end)) > 50


def test_lines_after_an_outage_are_all_stored_again() -> None:
    project = FailingProject(f"memory://{uuid4().hex}", "demo")
    writer = SegmentWriter(project, "metrics/0", most_bytes=200, gap=left_out)
    for _ in range(10):
        writer.append(b"lost or not")
    writer.flush()
    writer.append(b"kept")
    writer.flush()
    assert stored(project)[-1] == (2, b"kept\n")
