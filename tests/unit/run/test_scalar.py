from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hopyard.errors import BadReport
from hopyard.run.scalar import as_metrics, as_step

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("step", [3, 3.0, np.int64(3), np.float32(3.0), np.array(3), np.array([3])])
def test_whole_numbers_of_all_kinds_are_steps(step: Any) -> None:
    assert as_step(step) == 3
    assert type(as_step(step)) is int


@pytest.mark.parametrize(
    "step", ["one", "3", b"3", None, True, np.bool_(True), 3.5, math.nan, math.inf, [3], np.array([1, 2])]
)
def test_anything_else_is_no_step(step: Any) -> None:
    with pytest.raises(BadReport) as caught:
        as_step(step)
    assert repr(step) in str(caught.value)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5), np.array([[0.5]])])
def test_numbers_of_all_kinds_are_metrics(value: Any) -> None:
    assert as_metrics({"loss": value}) == {"loss": 0.5}


def test_what_a_diverged_training_reports_is_a_metric() -> None:
    metrics = as_metrics({"nan": math.nan, "inf": np.float32(math.inf)})
    assert math.isnan(metrics["nan"])
    assert metrics["inf"] == math.inf


@pytest.mark.parametrize("value", ["0.5", b"1", None, [0.5], {}, np.array([0.5, 0.25]), np.array("x"), 1j])
def test_anything_else_is_no_metric(value: Any) -> None:
    with pytest.raises(BadReport, match="the metric 'loss' is") as caught:
        as_metrics({"loss": value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("do", [lambda: as_step("one"), lambda: as_metrics({"loss": [1, 2]})])
def test_what_is_no_number_is_one_error(do: Callable[[], Any]) -> None:
    with pytest.raises(BadReport) as caught:
        do()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_no_metrics_at_all_are_refused() -> None:
    with pytest.raises(BadReport, match="Give at least one"):
        as_metrics({})
