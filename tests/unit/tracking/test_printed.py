from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hopyard.tracking.printed import parse_printed

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "value",
    [
        1,
        -0.5,
        "a 'text'",
        None,
        True,
        (1, 2.5),
        {"loss": 0.25, "names": ["a", "b"]},
        math.inf,
        -math.inf,
        b"x",
        {3},
    ],
)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    assert parse_printed(repr(value)) == value


def test_scalars_of_numpy_become_numbers() -> None:
    value = {
        "loss": np.float64(-0.5),
        "steps": np.int32(3),
        "worst": np.float32("nan"),
        "done": np.bool_(True),
    }
    found = parse_printed(repr(value))
    assert math.isnan(found.pop("worst"))
    assert found == {"loss": -0.5, "steps": 3, "done": True}


@pytest.mark.parametrize(
    "text",
    ["<object at 0x1>", "{'a': 1", "open('x')", "np.load('x', 1)", "array([1.])", "a.b", "", "(" * 500],
)
def test_of_other_values_the_text_is_returned(text: str) -> None:
    assert parse_printed(text) == text
