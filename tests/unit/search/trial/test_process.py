from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import cloudpickle
import psutil
import pytest

from hopyard.protocol.channel import is_hopeless
from hopyard.protocol.messages import Verdict
from hopyard.search.trial.call import TrialCall
from hopyard.search.trial.listener import TrialListener
from hopyard.search.trial.order import PAYLOAD_FILE, Ending, TrialOrder
from hopyard.search.trial.process import TrialProcess
from hopyard.search.trial.result import Wanted
from hopyard.testing.processes import descendants, still_running
from hopyard.tracking import TrialState

pytestmark = pytest.mark.unit

SECONDS = 60.0
SLOW_START = "import time; time.sleep(1.2)"
SHORT_SECONDS = 1.0


def work(what: str = "", value: float = 0.0) -> dict[str, float]:
    """Does as it is told; returns which process it is."""
    if what == "hang":
        print("waiting", flush=True)
        threading.Event().wait()
    if what == "leave early":
        told_to_end = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: told_to_end.set())
        print("waiting", flush=True)
        told_to_end.wait()
    if what == "ask":
        value = float(is_hopeless(os.environ))
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print(f"value {value}")
    return {"metric": value, "process": os.getpid()}


class Kept:
    """Takes lines and messages of a trial."""

    def __init__(self, on_line: Callable[[], None] = lambda: None) -> None:
        self.lines: list[bytes] = []
        self.messages: list[bytes] = []
        self._on_line = on_line

    def line(self, line: bytes) -> None:
        self.lines.append(line)
        self._on_line()

    def message(self, line: bytes) -> None:
        self.messages.append(line)


class Trials:
    """Runs trials in one process after the other."""

    def __init__(self, scratch: Path, **variables: str) -> None:
        call = TrialCall.of(work, ("metric",), Wanted.VALUE)
        (scratch / PAYLOAD_FILE).write_bytes(call.dump())
        self.folder = scratch / "trial"
        self.folder.mkdir()
        self.process = TrialProcess(scratch, {**os.environ, **variables})
        self.kept = Kept()
        self.on_question: Callable[[], None] = lambda: None

    def run(
        self,
        *,
        seconds: float | None = SECONDS,
        on_line: Callable[[], None] = lambda: None,
        on_question: Callable[[], None] = lambda: None,
        **arguments: object,
    ) -> Ending | None:
        (self.folder / "ending.json").unlink(missing_ok=True)
        self.kept = Kept(on_line)
        order = TrialOrder(
            arguments=cloudpickle.dumps(arguments),
            environment={"TRIAL": "1"},
            folder=str(self.folder),
            token=uuid4().hex,
        )
        ear = TrialListener(order.token, self.kept, judge=lambda _: Verdict.GO_ON, answer=self.answer)
        self.on_question = on_question
        return self.process.run(order, ear, seconds)

    def answer(self, verdict: bytes) -> None:
        self.on_question()
        self.process.answer(verdict)

    def result(self, **arguments: object) -> Mapping[str, Any]:
        ending = self.run(**arguments)  # type: ignore[arg-type]
        assert ending is not None
        assert ending.state is TrialState.FINISHED
        return ending.result

    def its_process(self) -> psutil.Process:
        (process,) = descendants(os.getpid(), "-m hopyard.search.trial.entry")[
            1:
        ]  # the first one is the warden
        return process


@pytest.fixture
def trials(tmp_path: Path) -> Iterator[Trials]:
    trials = Trials(tmp_path)
    yield trials
    trials.process.close()


def test_trials_share_a_process_and_their_output_is_kept_apart(trials: Trials) -> None:
    first = trials.run(value=1.0)
    assert trials.kept.lines == [b"value 1.0"]
    second = trials.run(value=2.0)
    assert trials.kept.lines == [b"value 2.0"]
    assert first is not None
    assert second is not None
    assert (first.values, second.values) == ((1.0,), (2.0,))
    assert first.result == second.result


def test_a_trial_that_dies_has_failed_and_the_next_one_gets_another_process(trials: Trials) -> None:
    before = trials.result()
    ending = trials.run(what="die")
    assert ending is not None
    assert (ending.state, ending.error_type) == (TrialState.FAILED, "ProcessDied")
    assert "killed by signal 9" in (ending.error or "")
    assert trials.result() != before


def test_a_process_that_dies_between_two_trials_costs_neither(trials: Trials) -> None:
    trials.result()
    process = trials.its_process()
    kill(process)
    assert trials.result(value=3.0) != {"process": process.pid}


def test_a_trial_that_takes_too_long_is_ended(trials: Trials) -> None:
    trials.result()
    process = trials.its_process()
    ending = trials.run(seconds=0.2, what="hang")
    assert ending is not None
    assert (ending.state, ending.error_type) == (TrialState.FAILED, "TrialTimeout")
    assert ending.error == "the trial took longer than 0.2 s. Allow more with trial_timeout=."
    assert not still_running([process], 0)
    assert trials.kept.lines == [b"waiting"]


def test_the_start_of_a_process_is_not_time_of_its_first_trial(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_START)
    trials = Trials(tmp_path, PYTHONPATH=str(tmp_path))
    try:
        ending = trials.run(seconds=SHORT_SECONDS)
    finally:
        trials.process.close()
    assert ending is not None
    assert ending.state is TrialState.FINISHED


def test_what_a_function_returns_because_it_was_told_to_end_is_no_result(trials: Trials) -> None:
    assert trials.run(what="leave early", on_line=trials.process.stop) is None


def test_a_stop_ends_the_trial_under_way_and_there_is_no_other(trials: Trials) -> None:
    assert trials.run(what="hang", on_line=trials.process.stop) is None
    assert trials.run() is None
    assert not descendants(os.getpid(), "hopyard.search.trial.entry")


def test_a_trial_may_ask_whether_to_go_on(trials: Trials) -> None:
    ending = trials.run(what="ask")
    assert ending is not None
    assert ending.values == (0.0,)


def test_a_trial_that_dies_before_it_is_answered_is_no_more_than_a_trial_that_dies(trials: Trials) -> None:
    ending = trials.run(what="ask", on_question=lambda: kill(trials.its_process()))
    assert ending is not None
    assert ending.error_type == "ProcessDied"


def kill(process: psutil.Process) -> None:
    process.kill()
    assert not still_running([process], SECONDS)
