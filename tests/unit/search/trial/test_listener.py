from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from hopyard.protocol.channel import GO_ON, JUDGE, STOP
from hopyard.protocol.messages import Verdict
from hopyard.search.trial.listener import REPORT_SECONDS, TrialListener
from hopyard.search.trial.order import ENDED

pytestmark = pytest.mark.unit


class Kept:
    """What a trial printed and reported."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.messages: list[bytes] = []

    def line(self, line: bytes) -> None:
        self.lines.append(line)

    def message(self, line: bytes) -> None:
        self.messages.append(line)


class Listening:
    """An ear, and what it brought to the driver and told the trial."""

    def __init__(self) -> None:
        self.kept = Kept()
        self.told: list[list[tuple[int, dict[str, float]]]] = []
        self.answers: list[bytes] = []
        self.now = 0.0
        self.is_driver_gone = False
        self.ear = TrialListener(
            "mark", self.kept, judge=self.judge, answer=self.answers.append, clock=lambda: self.now
        )

    def judge(self, points: Sequence[tuple[int, Mapping[str, float]]]) -> Verdict:
        self.told.append([(step, dict(metrics)) for step, metrics in points])
        if self.is_driver_gone:
            return Verdict.DROP
        is_bad = any(metrics.get("loss", 0.0) > 1 for _, metrics in points)
        return Verdict.PRUNE if is_bad else Verdict.GO_ON

    def report(self, step: int, **metrics: float) -> None:
        for name, value in metrics.items():
            fields = {"name": name, "step": step, "value": value, "time": 0.0}
            self.ear.message(json.dumps(fields).encode())

    def note(self, name: str) -> None:
        self.ear.message(json.dumps({"note": name, "text": ""}).encode())


def test_values_of_one_step_are_brought_together_and_kept() -> None:
    listening = Listening()
    listening.report(1, loss=0.5)
    listening.ear.listen()
    listening.report(1, accuracy=0.9)
    listening.report(2, loss=0.4)
    listening.ear.listen()
    assert listening.told == [[(1, {"loss": 0.5, "accuracy": 0.9})]]
    assert len(listening.kept.messages) == 3


def test_many_reports_are_brought_in_batches() -> None:
    listening = Listening()
    for step in range(11):
        listening.report(step, loss=0.5)
        listening.ear.listen()
    assert [len(batch) for batch in listening.told] == [1]
    listening.now += 2 * REPORT_SECONDS
    listening.ear.listen()
    assert [len(batch) for batch in listening.told] == [1, 9]


def test_a_question_is_answered_for_all_that_was_reported_before() -> None:
    listening = Listening()
    listening.report(1, loss=0.5)
    listening.note(JUDGE)
    listening.report(2, loss=2.0)
    listening.note(JUDGE)
    assert listening.answers == [GO_ON, STOP]
    assert listening.ear.is_hopeless


def test_a_verdict_stays() -> None:
    listening = Listening()
    listening.report(1, loss=2.0)
    listening.note(JUDGE)
    listening.report(2, loss=0.1)
    listening.note(JUDGE)
    assert listening.answers == [STOP, STOP]


def test_a_trial_that_asks_when_nobody_answers_is_dropped_and_not_hopeless() -> None:
    listening = Listening()
    listening.is_driver_gone = True
    listening.report(1, loss=0.5)
    listening.note(JUDGE)
    assert listening.answers == [STOP]
    assert listening.ear.is_dropped
    assert not listening.ear.is_hopeless


def test_a_trial_that_never_asks_is_not_dropped() -> None:
    listening = Listening()
    listening.is_driver_gone = True
    listening.report(1, loss=0.5)
    listening.ear.close()
    assert not listening.ear.is_dropped


def test_what_was_not_brought_yet_is_brought_at_the_end() -> None:
    listening = Listening()
    listening.report(1, loss=0.5)
    listening.ear.listen()
    listening.report(2, loss=0.4)
    listening.ear.close()
    assert listening.told == [[(1, {"loss": 0.5}), (2, {"loss": 0.4})]]


def test_all_is_heard_when_the_trial_has_said_so_on_both_ways() -> None:
    listening = Listening()
    assert not listening.ear.listen()
    listening.note(ENDED)
    assert listening.ear.listen()
    assert not listening.ear.is_complete
    listening.ear.line(b"mark")
    assert listening.ear.is_complete


def test_nonsense_on_the_channel_goes_to_the_log() -> None:
    listening = Listening()
    listening.ear.message(b"{not json")
    assert listening.kept.messages == [b"{not json"]


def test_only_a_trial_that_was_told_to_stop_is_stopped() -> None:
    listening = Listening()
    listening.report(1, loss=2.0)
    listening.ear.close()
    assert listening.ear.is_hopeless
    assert not listening.ear.is_told
    assert not listening.ear.has_asked
    asking = Listening()
    asking.report(1, loss=2.0)
    asking.note(JUDGE)
    assert asking.ear.is_told
    assert asking.ear.has_asked
