from __future__ import annotations

import warnings

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from hopyard.errors import InvalidSpace
from hopyard.search.space.parameters import Parameter, Range, stepped

pytestmark = pytest.mark.unit


def between(low: float, high: float, **settings: object) -> Parameter:
    return Parameter.between("p", Range(low, high, **settings))


def test_a_range_of_whole_numbers_has_whole_numbers() -> None:
    assert between(1, 8).distribution == IntDistribution(1, 8)


def test_one_bound_with_a_point_makes_a_range_of_floats() -> None:
    assert between(1, 8.0).distribution == FloatDistribution(1.0, 8.0)


def test_the_order_of_the_bounds_does_not_matter() -> None:
    assert between(0.1, 1e-4, log=True).distribution == FloatDistribution(1e-4, 0.1, log=True)


def test_a_range_may_hold_a_single_number() -> None:
    parameter = between(3, 3)
    assert parameter.distribution.single()
    assert list(parameter.listed) == [3]


def test_a_step_that_does_not_divide_the_range_ends_below_its_bound() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(between(0, 10, step=4).listed) == [0, 4, 8]
        assert list(between(0.0, 1.0, step=0.3).listed) == [0.0, 0.3, 0.6, 0.9]


def test_steps_add_up_as_they_are_written() -> None:
    assert stepped(0.1, 0.1, 2) == 0.3


@pytest.mark.parametrize(
    ("bounds", "remedy"),
    [
        (Range(0.0, 1.0, log=True), "begin above 0"),
        (Range(-1, 1, log=True), "begin above 0"),
        (Range(1, 8, log=True, step=2), "no step"),
        (Range(0, 1, step=0), "above 0"),
        (Range(0, 1, step=-0.1), "above 0"),
        (Range(0, float("inf")), "finite"),
        (Range(float("nan"), 1), "finite"),
        (Range(False, True), "not a number"),
        (Range("1e-4", 0.1), "is text"),
        (Range(None, 0.1), "not a number"),
    ],
)
def test_an_impossible_range_is_refused(bounds: Range, remedy: str) -> None:
    with pytest.raises(InvalidSpace, match=remedy):
        Parameter.between("p", bounds)


@pytest.mark.parametrize(
    "distribution",
    [
        FloatDistribution(0.0, 1.0),
        FloatDistribution(0.0, 1.0, step=0.25),
        FloatDistribution(1e-4, 0.1, log=True),
        IntDistribution(1, 9, step=2),
        IntDistribution(1, 64, log=True),
        CategoricalDistribution(["a", "b"]),
    ],
)
def test_a_distribution_of_optuna_stays_as_it_is(distribution: object) -> None:
    assert Parameter.like("p", distribution).distribution == distribution


@pytest.mark.parametrize("bounds", [Range(0.0, 1.0), Range(1, 4), Range(1e-3, 1.0, log=True)])
def test_a_range_without_a_step_cannot_be_listed(bounds: Range) -> None:
    with pytest.raises(InvalidSpace, match="give the range a step"):
        _ = Parameter.between("p", bounds).listed


def test_a_choice_needs_a_value() -> None:
    with pytest.raises(InvalidSpace, match="at least one value"):
        Parameter.choice("p", [])
