from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from hopyard.tracking import TrialRecord, TrialState
from hopyard.view.study_snapshot import StudySnapshot
from hopyard.view.study_status import RunningTrial, StudyStatus
from hopyard.view.study_table import StudyTable

pytestmark = pytest.mark.unit

PARAMS = {"learning_rate": 0.001, "dropout": 0.45}
STATUS = StudyStatus(
    title="app/search/run.1",
    objective="accuracy",
    total=20,
    ended={TrialState.FINISHED: 8, TrialState.PRUNED: 1, TrialState.FAILED: 1},
    best_trial=7,
    best_value=0.9731,
    best_params=PARAMS,
    seconds=83.0,
    left_seconds=170.0,
    slots=2,
)
BAR = "━" * 20 + " " * 20


def trial(number: int, **changes: Any) -> RunningTrial:
    usual = RunningTrial(number=number, params=PARAMS, slot=number % 2, host=f"host-{number}", seconds=63.0)
    return replace(usual, **changes)


def told(number: int) -> RunningTrial:
    return trial(number, step=100 + number, metrics={"loss": 0.25, "accuracy": 0.875})


def drawn(
    status: StudyStatus, *, width: int = 100, height: int = 40, fails: str = "", is_over: bool = False
) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, force_terminal=True, color_system=None)
    error = f"ValueError: {fails}"
    failed = TrialRecord(number=3, params={}, state=TrialState.FAILED, error_type="ValueError", error=error)
    snapshot = StudySnapshot.of(status, [failed] if fails else [], is_over=is_over)
    console.print(StudyTable(snapshot))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_a_study_under_way_has_a_bar_counts_the_best_and_a_row_for_each_trial() -> None:
    status = replace(STATUS, running=(told(12), trial(13, host="host-12")))
    running = replace(status, running=(replace(status.running[0], host="host-12"), status.running[1]))
    assert drawn(running) == [
        "app/search/run.1  0:01:23",
        f"{BAR}  10 of 20 trials  about 3 min left",
        "8 finished, 2 running, 1 stopped, 1 failed",
        "best: trial 7  accuracy = 0.9731  learning_rate=0.001 dropout=0.45",
        "trial  slot  params                            step  metrics                       time",
        "   12     0  learning_rate=0.001 dropout=0.45   112  loss 0.25, accuracy 0.875  0:01:03",
        "   13     1  learning_rate=0.001 dropout=0.45                                   0:01:03",
    ]


def test_trials_on_several_hosts_say_where_they_run() -> None:
    lines = drawn(replace(STATUS, running=(trial(12), trial(13))))
    assert lines[-2:] == [
        "   12     0  host-12  learning_rate=0.001 dropout=0.45  0:01:03",
        "   13     1  host-13  learning_rate=0.001 dropout=0.45  0:01:03",
    ]


def test_trials_that_report_nothing_have_no_columns_for_it() -> None:
    assert drawn(replace(STATUS, running=(trial(12),)))[-2] == (
        "trial  slot  params                               time"
    )


def test_a_study_that_begins_waits_for_its_slots() -> None:
    status = StudyStatus(title="app/search/run.1", objective="x", total=20, ended={})
    assert drawn(status) == ["app/search/run.1  0:00:00", " " * 42 + "0 of 20 trials", "waiting for a slot"]


def test_a_study_without_an_end_has_no_bar() -> None:
    assert drawn(replace(STATUS, total=None, left_seconds=None))[1] == "10 trials"


def test_the_last_way_in_which_trials_fail_is_told() -> None:
    assert drawn(STATUS, fails="no optimizer")[-1] == "trial 3 failed: ValueError: no optimizer"


def test_no_more_rows_than_there_is_room() -> None:
    status = replace(STATUS, running=tuple(trial(number) for number in range(32)))
    lines = drawn(status)
    assert len(lines) == 26
    assert lines[-1] == "and 12 more"
    low = drawn(status, height=16, fails="no optimizer")
    assert len(low) == 15
    assert low[-1] == "and 24 more"


@pytest.mark.parametrize("width", [90, 72, 60, 50])
def test_a_narrow_terminal_shortens_parameters_first(width: int) -> None:
    params = {"learning_rate": 0.001, "dropout": 0.45, "optimizer": "adam", "units": 128}
    status = replace(STATUS, running=(replace(told(12), params=params),), best_params=params)
    lines = drawn(status, width=width)
    assert len(lines) == 6
    assert max(map(len, lines)) <= width
    assert "  lea" in lines[5]
    assert "…" in lines[5]
    assert "  112  loss" in lines[5]
    assert lines[5].endswith("0:01:03")


def test_a_bar_without_room_goes() -> None:
    assert drawn(STATUS, width=40)[1] == "10 of 20 trials  about 3 min left"
    assert drawn(STATUS, width=50)[1] == "━" * 7 + "╸" + " " * 7 + "  10 of 20 trials  about 3 min left"


def test_a_long_title_keeps_its_end() -> None:
    assert drawn(STATUS, width=20)[0] == "…arch/run.1  0:01:23"


def test_the_end_shows_counts_and_the_best_in_full() -> None:
    params = {f"parameter_{number}": number for number in range(8)}
    lines = drawn(replace(STATUS, running=(told(12),), best_params=params), width=60, is_over=True)
    assert lines[:3] == [
        "app/search/run.1  0:01:23",
        "━" * 20 + " " * 20 + "  10 of 20 trials",
        "8 finished, 1 stopped, 1 failed",
    ]
    words = " ".join(lines[3:])
    assert words.startswith("best: trial 7  accuracy = 0.9731  parameter_0=0 parameter_1=1")
    assert words.endswith("parameter_7=7")


def test_a_direction_that_nobody_gave_is_said_below_the_best_trial() -> None:
    assumed = replace(STATUS, is_assumed=True)
    assert drawn(assumed)[4] == "maximises 'accuracy'; for a loss give direction='min'"
    assert not any("maximises" in line for line in drawn(replace(assumed, best_trial=None)))


def test_a_study_is_called_by_its_name() -> None:
    assert drawn(replace(STATUS, name="prices\x1b[31m of houses"))[0] == "prices\\x1b[31m of houses  0:01:23"


@pytest.mark.parametrize("width", range(40, 100, 5))
def test_numbers_are_whole_on_a_terminal_of_any_width(width: int) -> None:
    params = {"learning_rate": 0.00123, "dropout": 0.456, "units": 1289}
    status = replace(STATUS, running=(replace(told(12), params=params),), best_params=params)
    lines = drawn(status, width=width)
    whole = {"12", "0", "7", "0.9731", "0.00123", "0.456", "1289", "112", "0.25", "0.875"}
    shown = re.findall(
        r"(?<![\d.:])\d[\d.]*(?![\d:])", " ".join((lines[3], lines[5].removesuffix("0:01:03")))
    )
    assert set(shown) <= whole, lines
