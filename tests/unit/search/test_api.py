from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hopyard
from hopyard.errors import BadArguments, InvalidSearch, InvalidSpace, NoActiveSpark, NotPicklable
from hopyard.tracking import TrialState

pytestmark = pytest.mark.unit

LOCK = threading.Lock()


def train(rate: float, layers: int = 1) -> float:
    return rate * layers


def train_with_a_lock(rate: float) -> float:
    with LOCK:
        return rate


@pytest.mark.parametrize(
    ("function", "space", "options", "error", "words"),
    [
        (train, {"rat": [0.1, 0.2]}, {}, BadArguments, "no parameter 'rat' .did you mean 'rate'"),
        (train, {"layers": [1, 2]}, {}, BadArguments, "'rate' has no default and is not in the space"),
        (train, {"rate": object()}, {}, InvalidSpace, "rate"),
        (train, {"rate": [0.1, 0.2]}, {"paralel": 2}, BadArguments, "no option 'paralel'; use 'parallel'"),
        (train, {"rate": [0.1, 0.2]}, {"direction": "up"}, InvalidSearch, "direction='up'"),
        (train, {"rate": [0.1, 0.2]}, {"backend": "ray"}, InvalidSearch, "backend='ray'"),
        (train, {"rate": [0.1, 0.2]}, {"backend": "spark"}, NoActiveSpark, "Spark"),
        (train_with_a_lock, {"rate": [0.1, 0.2]}, {}, NotPicklable, "LOCK"),
        ("train", {"rate": [0.1, 0.2]}, {}, BadArguments, "fn='train' is not a function"),
    ],
)
def test_what_cannot_be_searched_is_refused_at_once_and_leaves_nothing(
    function: Callable[..., Any],
    space: dict[str, object],
    options: dict[str, Any],
    error: type[Exception],
    words: str,
    hopyard_root: Path,
) -> None:
    with pytest.raises(error, match=words):
        hopyard.grid_search(function, space, **{"backend": "processes", **options})
    assert list(hopyard_root.rglob("*")) == []


def test_a_search_without_an_end_is_refused(hopyard_root: Path) -> None:
    with pytest.raises(InvalidSearch, match=r"Give trials=.*or timeout="):
        hopyard.search(train, {"rate": [0.1, 0.2]}, backend="processes")
    assert list(hopyard_root.rglob("*")) == []


def returns_another_name(x: int) -> dict[str, float]:
    return {"acc": float(x)}


def test_a_grid_whose_metric_is_named_wants_its_value() -> None:
    study = hopyard.grid_search(
        returns_another_name, {"x": [1, 2]}, metric="accuracy", backend="processes", progress=False
    )
    assert [trial.state for trial in study.trials] == [TrialState.FAILED] * 2
    assert "It has no accuracy; metric= can be one of 'acc'" in str(study.trials[0].error)


def return_nothing(x: int) -> None:
    pass


def test_a_grid_without_a_metric_has_its_trials_whatever_they_return() -> None:
    study = hopyard.grid_search(return_nothing, {"x": [1, 2]}, backend="processes", progress=False)
    assert [trial.state for trial in study.trials] == [TrialState.FINISHED] * 2
