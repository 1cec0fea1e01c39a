from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from hopyard.tracking import TrialRecord, TrialState
from hopyard.view.study_status import RunningTrial, StudyStatus
from hopyard.view.study_view import StudyView

from .terminal import Terminal, be_a_common_terminal

pytestmark = pytest.mark.unit

TITLE = "app/search/run.1"
TRIAL = RunningTrial(number=2, params={"x": 0.5}, slot=0, host="a", seconds=3.0)
STATUS = StudyStatus(
    title=TITLE,
    objective="accuracy",
    total=4,
    ended={TrialState.FINISHED: 2},
    running=(TRIAL,),
    best_trial=1,
    best_value=0.5,
    best_params={"x": 0.25},
    slots=1,
)
FAILED = TrialRecord(
    number=1, params={}, state=TrialState.FAILED, error_type="ValueError", error="ValueError: no optimizer"
)
HALF = "━" * 20
LAST = [
    f"{TITLE}  0:00:00",
    f"{HALF}╺{HALF[1:]}  2 of 4 trials",
    "2 finished",
    "best: trial 1  accuracy = 0.5  x=0.25",
]


class Study:
    """A pretended study, and a count of the looks at it."""

    def __init__(self) -> None:
        self.now = STATUS
        self.error: Exception | None = None
        self.looks = threading.Semaphore(0)

    def status(self) -> StudyStatus:
        self.looks.release()
        if self.error is not None:
            raise self.error
        return self.now

    def await_looks(self, count: int) -> None:
        for _ in range(count):
            assert self.looks.acquire(timeout=10)


@pytest.fixture
def study() -> Study:
    return Study()


@pytest.fixture
def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Terminal]]:
    """Opens the terminal that the test sits at; in the test, since pytest puts its own streams in place before."""
    be_a_common_terminal(monkeypatch)
    with ExitStack() as stack:

        def open_terminal() -> Terminal:
            terminal = stack.enter_context(Terminal())
            monkeypatch.setattr(sys, "stderr", terminal.stream)
            monkeypatch.setattr(sys, "stdout", terminal.stream)
            return terminal

        yield open_terminal


def shows(text: str) -> Callable[[list[str]], bool]:
    return lambda lines: any(text in line for line in lines)


def is_left(expected: list[str]) -> Callable[[list[str]], bool]:
    """Tells whether this is to be seen, and below it nothing but the lines of a table that was higher."""
    return lambda lines: lines[: len(expected)] == expected and not any(lines[len(expected) :])


def test_a_terminal_shows_the_study_and_keeps_how_it_ended(
    study: Study, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    with StudyView(progress=None).showing(study.status):
        terminal.wait_until(shows("    2     0  x=0.5   0:00:03"))
        study.now = replace(STATUS, running=())
    terminal.wait_until(is_left(LAST))


def test_what_the_program_prints_appears_above_the_study(
    study: Study, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    with StudyView(progress=None).showing(study.status):
        terminal.wait_until(shows("x=0.5"))
        print("hello")
    terminal.wait_until(is_left(["hello", *LAST]))
    assert sys.stdout is terminal.stream


def test_how_a_study_stood_stays_when_somebody_interrupts_it(
    study: Study, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    with pytest.raises(KeyboardInterrupt), StudyView(progress=None).showing(study.status):
        raise KeyboardInterrupt
    terminal.wait_until(is_left(LAST))


def test_an_interrupt_says_what_is_kept_and_how_to_go_on(study: Study) -> None:
    with (
        pytest.raises(KeyboardInterrupt) as caught,
        StudyView(progress=None, go_on="again()").showing(study.status),
    ):
        raise KeyboardInterrupt
    assert "".join(traceback.format_exception(caught.value)).splitlines()[-3:] == [
        "KeyboardInterrupt",
        f"Interrupted: 2 of 4 trials of {TITLE} have ended and are kept; 1 under way will run again.",
        "Go on with: again()",
    ]


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_where_nobody_looks(
    study: Study, progress: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with StudyView(progress=progress).showing(study.status):
        assert not any(thread.name == "hopyard-view" for thread in threading.enumerate())
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_nothing_that_is_not_wanted(
    study: Study, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    with StudyView(progress=False).showing(study.status):
        pass
    assert terminal.received == ""


def test_progress_in_a_file_is_a_line_for_each_best_trial_and_each_way_to_fail(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    failures: list[TrialRecord] = []
    with StudyView(progress=True).showing(study.status, lambda: failures):
        study.await_looks(2)
        failures.append(FAILED)
        study.await_looks(2)
        study.now = replace(STATUS, best_trial=2, best_value=0.75, ended={TrialState.FINISHED: 4}, running=())
    assert capsys.readouterr().err.splitlines() == [
        f"{TITLE} 0:00:00 best so far: trial 1, accuracy = 0.5, x=0.25",
        f"{TITLE} 0:00:00 trial 1 failed: ValueError: no optimizer",
        f"{TITLE} 0:00:00 best so far: trial 2, accuracy = 0.75, x=0.25",
        f"{TITLE} 0:00:00 the study is over: 4 of 4 trials; 4 finished; best is trial 2, accuracy = 0.75",
    ]


def test_progress_in_a_file_tells_every_ten_seconds_how_far_the_study_is(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    with StudyView(progress=True).showing(study.status):
        for seconds in (0.0, 9.9, 10.2, 15.0, 20.4):
            study.now = replace(STATUS, seconds=seconds)
            study.await_looks(2)
    words = "2 of 4 trials; 2 finished, 1 running; best is trial 1, accuracy = 0.5"
    assert capsys.readouterr().err.splitlines()[1:3] == [
        f"{TITLE} 0:00:10 {words}",
        f"{TITLE} 0:00:20 {words}",
    ]


def test_a_status_that_fails_ends_the_view_and_nothing_else(
    study: Study, open_terminal: Callable[[], Terminal], caplog: pytest.LogCaptureFixture
) -> None:
    terminal = open_terminal()
    with StudyView(progress=None).showing(study.status):
        terminal.wait_until(shows("x=0.5"))
        study.error = RuntimeError("no scheduler")
        study.await_looks(2)
    assert [record.getMessage() for record in caplog.records] == [
        "the study goes on, but is not shown here any more: RuntimeError: no scheduler"
    ]
    assert sys.stdout is terminal.stream


def test_a_terminal_that_is_closed_ends_the_view_and_nothing_else(
    study: Study, open_terminal: Callable[[], Terminal], caplog: pytest.LogCaptureFixture
) -> None:
    terminal = open_terminal()
    with StudyView(progress=None).showing(study.status):
        terminal.wait_until(shows("x=0.5"))
        terminal.hang_up()
        study.now = replace(STATUS, seconds=5.0)
        study.await_looks(2)
    assert len(caplog.records) == 1
    assert "the study goes on, but is not shown here any more" in caplog.text
    assert sys.stdout is terminal.stream


def test_the_thread_ends_with_the_context(study: Study, open_terminal: Callable[[], Terminal]) -> None:
    open_terminal()
    with StudyView(progress=None).showing(study.status):
        assert any(thread.name == "hopyard-view" for thread in threading.enumerate())
    assert not any(thread.name == "hopyard-view" for thread in threading.enumerate())
