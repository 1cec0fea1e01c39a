from __future__ import annotations

import pytest
from optuna.distributions import FloatDistribution, IntDistribution

from hops.launches import between
from hopyard.search.space.reader import read_parameters

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("bounds", "distribution"),
    [
        ([0, 1], IntDistribution(0, 1)),
        ([9, 1], IntDistribution(1, 9)),
        ([0.5, 0.1], FloatDistribution(0.1, 0.5)),
    ],
)
def test_bounds_mean_what_they_meant_in_either_order(bounds: list[float], distribution: object) -> None:
    (parameter,) = read_parameters(between({"x": bounds}))
    assert parameter.distribution == distribution
