from __future__ import annotations

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from hopyard.errors import InvalidSearch, InvalidSpace
from hopyard.search.space.parameters import Choice, Parameter, Range
from hopyard.search.space.reader import read_parameters

pytestmark = pytest.mark.unit

CATEGORICAL = CategoricalDistribution


def read(value: object) -> Parameter:
    (parameter,) = read_parameters({"p": value})
    return parameter


@pytest.mark.parametrize(
    ("written", "distribution"),
    [
        ([16, 64], CATEGORICAL([16, 64])),
        ([0.1, 1], CATEGORICAL([0.1, 1])),
        ([np.float64(0.5), np.int64(2)], CATEGORICAL([0.5, 2])),
        (Range(1, 8), IntDistribution(1, 8)),
        (Range(0, 1, step=1), IntDistribution(0, 1)),
        (IntDistribution(0, 1), IntDistribution(0, 1)),
        (IntDistribution(1, 2, log=True), IntDistribution(1, 2, log=True)),
        (Range(3, 3), IntDistribution(3, 3)),
        (Range(0.1, 1), FloatDistribution(0.1, 1.0)),
        (Range(np.float64(0.5), np.int64(2)), FloatDistribution(0.5, 2.0)),
        ([False, True], CATEGORICAL([False, True])),
        ([1, 2, 3], CATEGORICAL([1, 2, 3])),
        (["a", "b"], CATEGORICAL(["a", "b"])),
        ([5], CATEGORICAL([5])),
        (Choice([16, 32]), CATEGORICAL([16, 32])),
        (Choice(range(3)), CATEGORICAL([0, 1, 2])),
        (Range(1, 8, step=2), IntDistribution(1, 7, step=2)),
        ({"low": 1e-4, "high": 0.1, "log": True}, FloatDistribution(1e-4, 0.1, log=True)),
        ({"low": 0, "high": 8, "step": 2}, IntDistribution(0, 8, step=2)),
        ({"values": [16, 32]}, CATEGORICAL([16, 32])),
        ({"choose": {"sgd": {}, "adam": None}}, CATEGORICAL(["sgd", "adam"])),
        (0.5, CATEGORICAL([0.5])),
        ("text", CATEGORICAL(["text"])),
        (None, CATEGORICAL([None])),
        (True, CATEGORICAL([True])),
        (np.int64(3), CATEGORICAL([3])),
        (FloatDistribution(0.0, 1.0), FloatDistribution(0.0, 1.0)),
    ],
)
def test_a_space_is_read(written: object, distribution: object) -> None:
    assert read(written).distribution == distribution


def test_the_lists_of_a_branch_mean_the_same_as_those_of_the_space() -> None:
    chosen = {"sgd": {"momentum": [0.0, 0.9]}}
    assert read(Choice(chosen)).branch("sgd")[0].distribution == CATEGORICAL([0.0, 0.9])


@pytest.mark.parametrize("written", [(16, 64), (0.001, 0.1)])
def test_two_numbers_in_a_tuple_are_refused_with_all_that_they_may_mean(written: tuple[float, float]) -> None:
    with pytest.raises(InvalidSpace) as caught:
        read(written)
    for meant in (f"Range{written}", str(list(written)), f"Choice([{written}])"):
        assert meant in str(caught.value)


@pytest.mark.parametrize("written", [(1, 2, 3), ("a", "b"), (), (False, True)])
def test_any_other_tuple_is_refused_too(written: tuple[object, ...]) -> None:
    with pytest.raises(InvalidSpace, match=r"write \[.* for these values, or Choice"):
        read(written)


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"low": 1},
        {"low": 1, "high": 2, "steps": 3},
        {"values": 3},
        {"values": [1], "choose": {}},
        {"choose": ["sgd"]},
    ],
)
def test_any_other_dict_is_refused_with_the_forms_that_there_are(written: object) -> None:
    with pytest.raises(InvalidSpace, match=r'{"low": 0.0001, "high": 0.1, "log": true}'):
        read(written)


@pytest.mark.parametrize("written", [[], Choice([]), Choice({}), {"values": []}, {"choose": {}}])
def test_a_parameter_without_values_is_refused(written: object) -> None:
    with pytest.raises(InvalidSpace, match="at least one value"):
        read(written)


@pytest.mark.parametrize("written", [{1, 2}, range(3), np.arange(3), object(), len])
def test_what_is_neither_values_nor_a_single_value_is_refused(written: object) -> None:
    with pytest.raises(InvalidSpace, match="Give a list, a Range, a Choice or a single value"):
        read(written)


@pytest.mark.parametrize("written", [Choice("abc"), Choice(3)])
def test_a_choice_among_no_list_is_refused(written: object) -> None:
    with pytest.raises(InvalidSpace, match="as a list"):
        read(written)


@pytest.mark.parametrize("name", ["learning rate", "", "1st", "a.b", 3])
def test_a_name_that_no_parameter_can_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidSpace, match="Take a name"):
        read_parameters({name: 1})


def test_the_name_of_the_context_is_refused() -> None:
    with pytest.raises(InvalidSpace, match="context"):
        read_parameters({"ctx": 1})


def test_a_space_is_a_mapping() -> None:
    with pytest.raises(InvalidSearch, match="Give a dict"):
        read_parameters([1, 2])


def test_siblings_may_share_a_parameter() -> None:
    shared = {"rate": [0.1, 0.5]}
    assert len(read_parameters({"kind": Choice({"a": shared, "b": shared})})) == 1


def test_siblings_cannot_share_a_name_for_different_things() -> None:
    branches = {"a": {"rate": [0.1, 0.5]}, "b": {"rate": [1, 5]}}
    with pytest.raises(InvalidSpace, match="Another branch"):
        read_parameters({"kind": Choice(branches)})


@pytest.mark.parametrize(
    "raw",
    [
        {"rate": [0, 1], "kind": Choice({"a": {"rate": [2, 3]}})},
        {"kind": Choice({"a": {"rate": [2, 3]}}), "rate": [0, 1]},
        {"kind": Choice({"a": {"kind": [0, 1]}})},
        {"one": Choice({"a": {"rate": [0, 1]}}), "two": Choice({"b": {"rate": [0, 1]}})},
    ],
)
def test_no_trial_can_have_a_parameter_twice(raw: dict[str, object]) -> None:
    with pytest.raises(InvalidSpace, match="have it twice"):
        read_parameters(raw)


@pytest.mark.parametrize("written", [Range(0, 1), Range(np.int64(0), np.int64(1)), {"low": 0, "high": 1}])
def test_a_range_of_two_whole_numbers_is_refused_with_both_meanings(written: object) -> None:
    with pytest.raises(InvalidSpace, match=r"Range\(0.0, 1.0\).*Choice\(\[0, 1\]\)"):
        read(written)


def test_a_range_begins_with_its_lower_bound() -> None:
    with pytest.raises(InvalidSpace, match=r"it is Range\(8, 1\).*write Range\(1, 8\)"):
        read(Range(8, 1))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (Range(0.0, 1.0), "Range(0.0, 1.0)"),
        (Range(1e-4, 0.1, log=True), "Range(0.0001, 0.1, log=True)"),
        (Range(0, 8, step=2), "Range(0, 8, step=2)"),
    ],
)
def test_a_range_is_shown_as_it_is_written(written: Range, text: str) -> None:
    assert repr(written) == text
    assert repr(read(written).written) == text
