from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hopyard.errors import BadResult
from hopyard.search.trial.result import TrialResult, Wanted, read_result

pytestmark = pytest.mark.unit

ONE = ("metric",)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5), np.array([0.5])])
def test_whatever_is_one_number_is_the_value(value: Any) -> None:
    assert read_result(value, ONE).values == (0.5,)


def test_a_mapping_holds_the_objective_and_what_else_is_to_be_kept() -> None:
    result = read_result({"accuracy": 0.9, "loss": np.float64(0.1), "model": object}, ("accuracy",))
    assert result.values == (0.9,)
    assert result.result == {"loss": 0.1, "model": repr(object)}


def test_a_mapping_of_one_needs_no_name() -> None:
    assert read_result({"accuracy": 0.9}, ONE) == TrialResult(values=(0.9,), key="accuracy")


def test_several_objectives_come_from_a_mapping_or_in_order() -> None:
    both = ("accuracy", "seconds")
    assert read_result({"seconds": 2, "accuracy": 0.9}, both).values == (0.9, 2.0)
    assert read_result((0.9, 2), both).values == (0.9, 2.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        ("0.9", "'0.9'"),
        (math.nan, "nan"),
        (math.inf, "the function returned inf. Infinity is no value to compare by"),
        (np.float32(-math.inf), "-inf"),
        ({"metric": math.inf}, "inf as 'metric'"),
        (True, "True (type bool). Return a number"),
        (np.bool_(False), "bool"),
        ({"metric": np.array(True)}, "as 'metric'. Return a number"),
        ([0.1, 0.2], "list"),
        ({"loss": 1.0, "accuracy": 0.9}, "'loss', 'accuracy'"),
        ({"metric": math.nan}, "nan as 'metric'"),
        (object, "type"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_it_is(value: Any, words: str) -> None:
    with pytest.raises(BadResult) as caught:
        read_result(value, ONE)
    assert words in str(caught.value)


def test_too_few_numbers_for_several_objectives_are_refused() -> None:
    with pytest.raises(BadResult, match="Return 2 numbers: a, b"):
        read_result((1.0,), ("a", "b"))


def test_a_grid_takes_nothing_but_no_nonsense() -> None:
    assert read_result(None, ONE, Wanted.MAYBE) == TrialResult()
    assert read_result({"a": 1, "b": 2}, ONE, Wanted.MAYBE) == TrialResult(result={"a": 1, "b": 2})
    with pytest.raises(BadResult):
        read_result("done", ONE, Wanted.MAYBE)


def test_where_nobody_compares_anything_goes() -> None:
    assert read_result("done", ONE, Wanted.ANYTHING) == TrialResult(result={"value": "done"})
