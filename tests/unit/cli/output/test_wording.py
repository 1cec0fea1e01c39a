from __future__ import annotations

from datetime import UTC

import pytest

from hopyard.cli.output.wording import duration, local_time, number

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0s"),
        (-0.5, "0.0s"),  # clocks of two machines differ
        (9.94, "9.9s"),
        (12.3, "12s"),
        (59.7, "1m00s"),
        (185, "3m05s"),
        (3599.6, "1h00m"),
        (7620, "2h07m"),
        (90000, "1d01h"),
    ],
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_time_is_told_in_the_given_zone() -> None:
    assert local_time(1_700_000_000, UTC) == "2023-11-14 22:13:20"


@pytest.mark.parametrize(
    ("value", "text"), [(0.97222, "0.9722"), (12345.6, "1.235e+04"), (float("nan"), "nan")]
)
def test_a_metric_is_told_with_four_digits(value: float, text: str) -> None:
    assert number(value) == text
