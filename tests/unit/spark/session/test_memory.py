from __future__ import annotations

import pytest

from hopyard.errors import InvalidSessionSetting
from hopyard.spark.session.memory import memory_in_mb

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "mb"),
    [("512m", 512), ("2g", 2048), ("1T", 1024 * 1024), ("2048k", 2), ("1 GB", 1024), ("3GiB", 3072)],
)
def test_an_amount_with_a_unit_is_understood(text: str, mb: int) -> None:
    assert memory_in_mb("memory", text) == mb


@pytest.mark.parametrize("text", ["", "512", "much", "1.5g", "-1g"])
def test_anything_else_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(InvalidSessionSetting, match=r"memory is .*give a number with a unit"):
        memory_in_mb("memory", text)
