from __future__ import annotations

import pytest

from hopyard.run.recorded_parameters import recorded_parameters

pytestmark = pytest.mark.unit


def test_numbers_and_short_texts_with_a_name_are_recorded() -> None:
    args = {"rate": 0.1, "layers": 2, "deep": True, "optimizer": "adam", "seed": None}
    assert recorded_parameters(args) == args


@pytest.mark.parametrize("value", [[1, 2], object(), b"data", "x" * 201, {"a": 1}])
def test_everything_else_is_left_out(value: object) -> None:
    assert recorded_parameters({"rate": 0.1, "other": value}) == {"rate": 0.1}


@pytest.mark.parametrize("args", [None, (1, 2), [3]])
def test_arguments_without_names_are_not_recorded(args: object) -> None:
    assert recorded_parameters(args) == {}
