from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from hopyard.view.node_output import MOST_WAITING, OutputQueue

pytestmark = pytest.mark.unit


class Writer:
    """Remembers what it wrote; writes only while its gate is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.writing = threading.Event()
        self.lines: list[tuple[int, str]] = []

    def __call__(self, batch: Sequence[tuple[int, str]]) -> None:
        self.writing.set()
        assert self.gate.wait(10)
        self.lines.extend(batch)


def fail(error: Exception) -> None:
    raise error


def test_lines_are_written_in_the_order_in_which_they_came() -> None:
    writer = Writer()
    writer.gate.set()
    queue = OutputQueue(writer, fail)
    for number in range(100):
        queue.add(number % 3, (str(number),))
    assert queue.flush(10)
    assert writer.lines == [(number % 3, str(number)) for number in range(100)]


def test_no_thread_stays_when_all_is_written() -> None:
    writer = Writer()
    writer.gate.set()
    queue = OutputQueue(writer, fail)
    queue.add(0, ("line",))
    assert queue.flush(10)
    for thread in threading.enumerate():
        if thread.name == "hopyard-output":
            thread.join(10)
            assert not thread.is_alive()


def test_what_finds_no_room_is_counted_and_told() -> None:
    writer = Writer()
    queue = OutputQueue(writer, fail)
    queue.add(0, ("first",))
    assert writer.writing.wait(10)
    queue.add(1, ["many"] * (MOST_WAITING + 5))
    queue.add(1, ["more"] * 2)
    assert not queue.flush(0)
    writer.gate.set()
    assert queue.flush(10)
    assert len(writer.lines) == 1 + MOST_WAITING + 1
    assert writer.lines[-1] == (1, "[hopyard] 7 more lines are in the log only")


def test_a_failure_is_told_once_and_later_lines_are_dropped() -> None:
    failures: list[Exception] = []
    batches: list[object] = []

    def write(batch: object) -> None:
        batches.append(batch)
        raise OSError("gone")

    queue = OutputQueue(write, failures.append)
    for _ in range(3):
        queue.add(0, ("line",))
        assert queue.flush(10)
    assert [str(failure) for failure in failures] == ["gone"]
    assert len(batches) == 1
