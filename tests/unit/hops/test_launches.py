from __future__ import annotations

import numpy as np
import pytest

from hops.launches import listed

pytestmark = pytest.mark.unit


def test_values_may_come_in_anything_that_has_an_order() -> None:
    lists = listed({"a": (1, 2), "b": range(2), "c": np.array([0.5, 0.25])})
    assert lists == {"a": [1, 2], "b": [0, 1], "c": [0.5, 0.25]}
