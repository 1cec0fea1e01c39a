from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hopyard.tracking import TrialRecord, TrialState
from hopyard.view.study_snapshot import StudySnapshot, in_short, time_left
from hopyard.view.study_status import RunningTrial, StudyStatus

pytestmark = pytest.mark.unit

STATUS = StudyStatus(
    title="app/search/run.1",
    objective="accuracy",
    total=20,
    ended={TrialState.FINISHED: 10, TrialState.PRUNED: 1, TrialState.FAILED: 1},
    best_trial=7,
    best_value=0.97312345,
    best_params={"learning_rate": 0.001, "dropout": 0.45},
    seconds=83.9,
    left_seconds=170.0,
    slots=2,
)


def trial(number: int = 12, **changes: Any) -> RunningTrial:
    usual = RunningTrial(number=number, params={"x": 0.5}, slot=number % 2, host="a", seconds=3.0)
    return replace(usual, **changes)


def failure(number: int, error: str = "no optimizer", error_type: str = "ValueError") -> TrialRecord:
    return TrialRecord(
        number=number,
        params={},
        state=TrialState.FAILED,
        error_type=error_type,
        error=f"{error_type}: {error}",
    )


def test_parameters_are_short_numbers_and_words() -> None:
    params = {"learning_rate": 0.001, "dropout": 0.1 + 0.2, "units": 64, "deep": True, "how": "adam"}
    assert in_short(params) == ("learning_rate=0.001", "dropout=0.3", "units=64", "deep=True", "how=adam")


def test_a_value_is_one_short_line_whatever_it_is() -> None:
    shown = in_short({"text": "two\nlines\x1b[2J", "long": "x" * 40, "na\x1b[0mme": 1})
    assert shown == ("text=two lines\\x1b[2J", f"long={'x' * 29}…", "na\\x1b[0mme=1")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "a few seconds left"),
        (7.4, "a few seconds left"),
        (8.0, "about 10 s left"),
        (57.0, "about 55 s left"),
        (58.0, "about 1 min left"),
        (170.0, "about 3 min left"),
        (5300.0, "about 88 min left"),
        (5400.0, "about 1.5 h left"),
        (36000.0, "about 10 h left"),
        (200_000.0, "about 2 days left"),
    ],
)
def test_the_time_left_is_as_precise_as_one_can_know(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


def test_those_in_each_state_are_counted() -> None:
    snapshot = StudySnapshot.of(replace(STATUS, running=(trial(12), trial(13))))
    assert snapshot.counts == {"finished": 10, "running": 2, "stopped": 1, "failed": 1}
    assert snapshot.progress == "12 of 20 trials"


def test_a_study_without_an_end_only_counts() -> None:
    snapshot = StudySnapshot.of(replace(STATUS, total=None, left_seconds=None))
    assert (snapshot.progress, snapshot.left) == ("12 trials", "")


def test_the_time_left_is_not_guessed_from_the_trials_that_fail_at_once() -> None:
    assert StudySnapshot.of(replace(STATUS, slots=13)).left == ""
    assert StudySnapshot.of(replace(STATUS, slots=12)).left == "about 3 min left"


def test_nothing_runs_or_is_left_after_the_end() -> None:
    snapshot = StudySnapshot.of(replace(STATUS, running=(trial(),)), is_over=True)
    assert (snapshot.rows, snapshot.left) == ((), "")
    assert "running" not in snapshot.counts


def test_hosts_are_told_only_if_they_differ() -> None:
    on_one = StudySnapshot.of(replace(STATUS, running=(trial(12), trial(13))))
    on_two = StudySnapshot.of(replace(STATUS, running=(trial(12), trial(13, host="b"))))
    assert [row.host for row in on_one.rows] == ["", ""]
    assert [row.host for row in on_two.rows] == ["a", "b"]


def test_a_study_without_slots_waits_for_one_until_it_ends() -> None:
    status = replace(STATUS, slots=0)
    assert StudySnapshot.of(status).waiting == "waiting for a slot"
    assert StudySnapshot.of(status, is_over=True).waiting == ""
    assert StudySnapshot.of(STATUS).waiting == ""


def test_snapshots_that_look_the_same_are_equal() -> None:
    one, other, later = (
        StudySnapshot.of(
            replace(
                STATUS,
                seconds=seconds,
                left_seconds=170 + seconds,
                running=(trial(seconds=seconds, metrics={"loss": float("nan")}),),
            )
        )
        for seconds in (7.1, 7.9, 8.0)
    )
    assert one == other
    assert one != later


def test_a_best_trial_is_news_once() -> None:
    first = StudySnapshot.of(STATUS)
    assert first.news(None) == ["best so far: trial 7, accuracy = 0.973123, learning_rate=0.001 dropout=0.45"]
    assert StudySnapshot.of(replace(STATUS, seconds=90.0)).news(first) == []
    better = replace(STATUS, best_trial=9, best_value=0.98, best_params={"x": 1})
    assert StudySnapshot.of(better).news(first) == ["best so far: trial 9, accuracy = 0.98, x=1"]


def test_each_way_to_fail_is_news_once() -> None:
    first = StudySnapshot.of(STATUS, [failure(3)])
    later = StudySnapshot.of(STATUS, [failure(3), failure(8, "first line\nsecond line", "OSError")])
    assert first.news(StudySnapshot.of(STATUS)) == ["trial 3 failed: ValueError: no optimizer"]
    assert later.news(first) == ["trial 8 failed: OSError: first line second line"]


def test_failures_that_all_differ_are_told_up_to_a_number() -> None:
    failures = [failure(number, f"reason {number}") for number in range(1000)]
    assert len(StudySnapshot.of(STATUS, failures).failures) == 10


def test_a_trial_that_ends_is_no_news() -> None:
    before = StudySnapshot.of(STATUS)
    ended = replace(STATUS, ended={TrialState.FINISHED: 11, TrialState.PRUNED: 1, TrialState.FAILED: 1})
    assert StudySnapshot.of(ended).news(before) == []


def test_the_summary_tells_counts_best_and_time_left() -> None:
    assert StudySnapshot.of(replace(STATUS, running=(trial(),))).summary() == (
        "12 of 20 trials; 10 finished, 1 running, 1 stopped, 1 failed; "
        "best is trial 7, accuracy = 0.973123; about 3 min left"
    )


def test_the_summary_of_a_study_that_waits_says_for_what() -> None:
    assert StudySnapshot.of(replace(STATUS, slots=0)).summary() == "waiting for a slot"


def test_the_end_is_news_and_needs_no_summary() -> None:
    before, over = StudySnapshot.of(STATUS), StudySnapshot.of(STATUS, is_over=True)
    assert over.news(before) == [
        "the study is over: 12 of 20 trials; 10 finished, 1 stopped, 1 failed; "
        "best is trial 7, accuracy = 0.973123"
    ]
    assert over.summary() == ""
