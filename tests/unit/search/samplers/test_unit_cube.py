from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from hopyard.search.samplers.unit_cube import Axis

pytestmark = pytest.mark.unit

ALL = [
    FloatDistribution(-2.0, 3.0),
    FloatDistribution(1e-5, 0.1, log=True),
    FloatDistribution(0.1, 0.9, step=0.1),
    IntDistribution(-3, 4),
    IntDistribution(0, 100, step=25),
    IntDistribution(1, 1000, log=True),
    CategoricalDistribution(["a", None, 3]),
]
EVEN = [
    FloatDistribution(0.1, 0.9, step=0.1),
    IntDistribution(-3, 5),
    CategoricalDistribution(list("abcdefghi")),
]


@pytest.mark.parametrize("distribution", ALL, ids=repr)
def test_the_ends_of_the_cube_are_the_ends_of_the_range(distribution: BaseDistribution) -> None:
    axis = Axis(distribution=distribution)
    choices = getattr(distribution, "choices", None)
    low, high = (choices[0], choices[-1]) if choices else (distribution.low, distribution.high)
    assert axis.value(0.0) == pytest.approx(low)
    assert axis.value(1.0) == pytest.approx(high)


@pytest.mark.parametrize("distribution", ALL, ids=repr)
def test_a_value_lies_where_it_comes_from(distribution: BaseDistribution) -> None:
    axis = Axis(distribution=distribution)
    for coordinate in np.random.default_rng(0).random(50):
        value = axis.value(coordinate)
        again = axis.value(axis.coordinate(value))
        assert again == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize("distribution", ALL, ids=repr)
def test_optuna_takes_every_value(distribution: BaseDistribution) -> None:
    axis = Axis(distribution=distribution)
    for coordinate in np.random.default_rng(0).random(50):
        assert distribution._contains(distribution.to_internal_repr(axis.value(coordinate)))


@pytest.mark.parametrize("distribution", EVEN, ids=repr)
def test_the_first_and_the_last_value_are_as_likely_as_the_others(distribution: BaseDistribution) -> None:
    axis = Axis(distribution=distribution)
    middles = (np.arange(900) + 0.5) / 900
    assert set(Counter(axis.value(coordinate) for coordinate in middles).values()) == {100}


def test_equal_ratios_are_equal_distances_on_a_logarithmic_scale() -> None:
    assert Axis(distribution=FloatDistribution(1e-4, 1e-2, log=True)).value(0.5) == pytest.approx(1e-3)


def test_steps_have_the_values_that_are_written() -> None:
    assert Axis(distribution=FloatDistribution(0.1, 0.9, step=0.1)).value(0.3) == 0.3


def test_only_choices_are_without_an_order() -> None:
    assert [Axis(distribution=distribution).dimension.is_ordered for distribution in ALL] == [True] * 6 + [
        False
    ]
