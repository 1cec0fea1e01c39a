from __future__ import annotations

import threading

import pytest

from hopyard.wire.running import RunningCalls

pytestmark = pytest.mark.unit


class Loop:
    """Runs Python code in a thread until it is interrupted."""

    def __init__(self, calls: RunningCalls) -> None:
        self._calls = calls
        self.begun = threading.Event()
        self.interrupted = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        assert self.begun.wait(5)

    def _run(self) -> None:
        try:
            with self._calls.entered():
                self.begun.set()
                while True:
                    threading.Event().wait(0.001)
        except SystemExit:
            self.interrupted = True


def test_every_running_call_is_interrupted() -> None:
    calls = RunningCalls()
    loops = [Loop(calls), Loop(calls)]
    assert calls.interrupt() == 2
    for loop in loops:
        loop.thread.join(5)
    assert [loop.interrupted for loop in loops] == [True, True]


def test_a_call_that_has_ended_is_left_alone() -> None:
    calls = RunningCalls()
    with calls.entered():
        pass
    assert calls.interrupt() == 0
