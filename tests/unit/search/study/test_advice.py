from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from optuna.pruners import BasePruner

import hopyard
from hopyard import NodeContext, Range, Reporter
from hopyard.errors import InvalidSearch
from hopyard.search.study.study import Study
from hopyard.tracking import TrialState

pytestmark = pytest.mark.unit

ONE_AT_A_TIME = {"parallel": 1, "backend": "processes", "progress": False}


def val_loss(x: float) -> float:
    return (x - 3) ** 2


def train(x: float) -> float:
    return x


def fit(x: float) -> dict[str, float]:
    return {"loss": x}


def show_errors(x: float) -> None:
    print(x)


def search(function: Any, **options: Any) -> Study:
    return hopyard.search(function, {"x": Range(0.0, 6.0)}, **{**ONE_AT_A_TIME, "trials": 3, **options})


def grid(function: Any, **options: Any) -> Study:
    return hopyard.grid_search(function, {"x": [1.0, 2.0, 3.0]}, **{**ONE_AT_A_TIME, **options})


def studies() -> list[Study]:
    try:
        return [Study.load()]
    except LookupError:
        return []


def test_a_function_called_like_a_loss_needs_a_direction(hopyard_root: Path) -> None:
    with pytest.raises(InvalidSearch, match=r"'val_loss' is called like a loss.*Give direction='min'"):
        search(val_loss)
    assert list(hopyard_root.rglob("*")) == []


def test_a_grid_of_such_a_function_ends_with_its_first_value() -> None:
    with pytest.raises(InvalidSearch, match=r"'val_loss' is called like a loss"):
        grid(val_loss)
    assert [trial.state for trial in studies()[0].trials] == [TrialState.FINISHED]


@pytest.mark.parametrize("run", [search, grid])
def test_a_loss_in_a_dict_ends_the_study_with_its_first_value(run: Any) -> None:
    with pytest.raises(InvalidSearch, match=r"'loss' is called like a loss.*Give direction='min'"):
        run(fit)
    assert [trial.state for trial in studies()[0].trials] == [TrialState.FINISHED]


def test_a_direction_is_all_that_a_loss_needs(caplog: pytest.LogCaptureFixture) -> None:
    assert search(val_loss, direction="min", trials=1).best_value >= 0
    assert grid(fit, direction="max").best_value == 3.0
    assert caplog.messages == []


def test_what_is_maximised_by_default_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    search(train)
    assert caplog.messages == ["the study maximises 'train'; for a loss give direction='min'"]


def test_nothing_is_maximised_where_nothing_is_returned(caplog: pytest.LogCaptureFixture) -> None:
    assert len(grid(show_errors).trials) == 3
    assert caplog.messages == []


class StopsAll(BasePruner):
    """Gives up every trial that reports."""

    def prune(self, study: object, trial: object) -> bool:
        return True


def report_only(x: float, ctx: NodeContext) -> float:
    for step in range(4):
        ctx.report(step, metric=x)
    return x


def report_and_ask(x: float, ctx: NodeContext) -> float:
    report = Reporter(ctx)
    for step in range(4):
        report(step, metric=x)
    return x


def test_trials_that_never_ask_finish_and_the_remedy_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    study = search(report_only, direction="max", pruner=StopsAll())
    assert {trial.state for trial in study.trials} == {TrialState.FINISHED}
    assert study.best_value == max(trial.params["x"] for trial in study.trials)
    (said,) = caplog.messages
    assert "trial 0 was to be stopped early, but never asks" in said
    assert "hopyard.Reporter(ctx)" in said
    assert "ctx.should_stop()" in said


def test_trials_that_are_stopped_are_not_talked_about(caplog: pytest.LogCaptureFixture) -> None:
    study = search(report_and_ask, direction="max", pruner=StopsAll())
    assert {trial.state for trial in study.trials} == {TrialState.PRUNED}
    assert caplog.messages == []


def report_loss(x: float, ctx: NodeContext) -> dict[str, float]:
    report = Reporter(ctx)
    for step in range(3):
        report(step, loss=x)
    return {"accuracy": x, "loss": x}


def report_score(x: float, ctx: NodeContext) -> dict[str, float]:
    report = Reporter(ctx)
    for step in range(3):
        report(step, score=x)
    return {"accuracy": x, "loss": x}


def report_two(x: float, ctx: NodeContext) -> dict[str, float]:
    report = Reporter(ctx)
    for step in range(3):
        report(step, score=x, other=x)
    return {"accuracy": x, "loss": x}


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (train, {"direction": "max"}, ["trial 0 has reported nothing", "hopyard.Reporter(ctx)", "metric="]),
        (
            report_loss,
            {"metric": "accuracy"},
            ["reports 'loss'", "not 'accuracy'", "no trial is stopped early"],
        ),
        (
            report_score,
            {"metric": "accuracy"},
            ["reports 'score'", "not 'accuracy'", "compares 'score' instead"],
        ),
        (
            report_two,
            {"metric": "accuracy"},
            ["'other', 'score'", "not 'accuracy'", "no trial is stopped early"],
        ),
    ],
)
def test_a_pruner_that_has_nothing_to_compare_is_told_once(
    function: Any, options: dict[str, Any], words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    study = search(function, pruner="median", trials=8, seed=1, **options)
    (said,) = caplog.messages
    assert all(word in said for word in words), said
    if "instead" not in said:
        assert {trial.state for trial in study.trials} == {TrialState.FINISHED}


def test_a_pruner_that_is_reported_what_it_compares_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    search(report_two, pruner="median", metric="loss", direction="min", trials=1)
    search(report_score, metric="accuracy", trials=1)
    assert len(caplog.messages) == 1  # of the first, whose reports are of something else
    caplog.clear()
    search(report_and_ask, pruner="median", direction="max")
    assert caplog.messages == []
