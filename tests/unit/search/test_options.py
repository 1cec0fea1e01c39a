from __future__ import annotations

from typing import Any

import pytest

from hopyard.control.queue import StudyRules
from hopyard.errors import InvalidDevices, InvalidSearch
from hopyard.search.options import SearchSpec, direction_of
from hopyard.tracking import Direction
from hopyard.worker.gpus.request import DeviceRequest

pytestmark = pytest.mark.unit


def spec(trials: int | None = None, **options: Any) -> SearchSpec:
    return SearchSpec.of(trials, options)  # type: ignore[arg-type]


def test_nothing_given_maximises_a_metric_on_all_slots() -> None:
    assert spec() == SearchSpec(
        objectives=("metric",),
        directions=(Direction.MAX,),
        is_assumed=True,
        rules=StudyRules(),
        devices=DeviceRequest(),
    )


def test_rules_are_what_was_given() -> None:
    rules = spec(9, timeout=60, retries=2, same_failures=5, lease_seconds=8).rules
    assert rules == StudyRules(trials=9, seconds=60.0, retries=2, same_failures=5, lease=8.0)


def test_several_metrics_have_a_direction_each_or_share_one() -> None:
    both = spec(metric=["accuracy", "size"], direction=["max", "min"])
    assert both.objectives == ("accuracy", "size")
    assert both.directions == (Direction.MAX, Direction.MIN)
    assert spec(metric=["loss", "size"], direction="min").directions == (Direction.MIN, Direction.MIN)


class Way:
    """A direction of another library, with its word as its value."""

    value = "MAX"


@pytest.mark.parametrize("word", ["max", "MAX", "maximize", "Maximize", Direction.MAX, Way()])
def test_a_direction_has_many_spellings(word: object) -> None:
    assert direction_of(word) is Direction.MAX


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"direction": "up"}, "direction='up'"),
        ({"metric": ["a", "b"], "direction": ["max"]}, "2 metrics and 1 directions"),
        ({"metric": []}, "Give one name"),
        ({"metric": ["a", "a"]}, "several that differ"),
        ({"trials": 0}, "trials=0"),
        ({"trials": 2.5}, "trials=2.5"),
        ({"trials": True}, "trials=True"),
        ({"parallel": 0}, "parallel=0"),
        ({"retries": -1}, "retries=-1"),
        ({"same_failures": 0}, "same_failures=0"),
        ({"nodes_per_trial": 0}, "nodes_per_trial=0"),
        ({"ps": -1}, "ps=-1"),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": "60"}, "timeout='60'"),
        ({"trial_timeout": float("nan")}, "trial_timeout=nan"),
        ({"trial_timeout": float("inf")}, "trial_timeout=inf"),
        ({"lease_seconds": 0.5}, "at least 1"),
        ({"isolate": 1}, "isolate=1"),
        ({"evaluator": "no"}, "evaluator='no'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_value(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSearch, match=words):
        spec(**options)


def test_gpus_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidDevices):
        spec(gpus_per_trial=-1)
