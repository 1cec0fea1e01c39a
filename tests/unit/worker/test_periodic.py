from __future__ import annotations

import threading

import pytest

from hopyard.worker.periodic import Periodic, PeriodicThread

pytestmark = pytest.mark.unit


class Counter:
    """Counts its calls, can fail, and tells when it was called often enough."""

    def __init__(self, *, enough: int, failures: int = 0) -> None:
        self.calls = 0
        self.enough = enough
        self.failures = failures
        self.reached = threading.Event()

    def __call__(self) -> None:
        self.calls += 1
        if self.calls >= self.enough:
            self.reached.set()
        if self.calls <= self.failures:
            raise OSError("the store is away")


def test_a_chore_is_done_again_and_again() -> None:
    work = Counter(enough=3)
    with PeriodicThread(Periodic(work, seconds=0.01)):
        assert work.reached.wait(20)


def test_a_chore_that_fails_is_tried_again_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    work = Counter(enough=4, failures=3)
    with PeriodicThread(Periodic(work, seconds=0.01)):
        assert work.reached.wait(20)
    assert [record.getMessage() for record in caplog.records] == ["the store is away; trying again"]


def test_no_chore_is_done_after_the_end() -> None:
    work = Counter(enough=1)
    with PeriodicThread(Periodic(work, seconds=0.01)):
        work.reached.wait(20)
    calls = work.calls
    assert not any(thread.name == "hopyard-housekeeper" for thread in threading.enumerate())
    assert work.calls == calls
