from __future__ import annotations

import math

import numpy as np
import pytest

from hopyard.search.space.choices import LONGEST_LABEL, Choices

pytestmark = pytest.mark.unit


class Adam:
    pass


def test_plain_values_are_stored_as_they_are() -> None:
    assert Choices.of([None, True, 2, 0.5, "a"]).stored == (None, True, 2, 0.5, "a")


@pytest.mark.parametrize("values", [[1, True, 1.0], [True, 1.0, 1], [1.0, 1, True]])
def test_equal_values_of_different_types_are_different_choices(values: list[object]) -> None:
    choices = Choices.of(values)
    assert len(set(choices.stored)) == 3
    assert [repr(choices.object_of(stored)) for stored in choices.stored] == [repr(value) for value in values]


def test_an_object_is_stored_as_a_label_and_comes_back_as_itself() -> None:
    shape = [64, 32]
    choices = Choices.of([shape, (1, 2)])
    assert choices.stored == ("[64, 32]", "(1, 2)")
    assert choices.object_of("[64, 32]") is shape


def test_a_class_is_stored_under_its_name() -> None:
    assert Choices.of([Adam]).stored == ("Adam",)


def test_a_label_is_the_same_in_another_process() -> None:
    assert "0x" not in str(Choices.of([Adam()]).stored)


def test_objects_that_look_alike_have_different_labels() -> None:
    first, second = Adam(), Adam()
    choices = Choices.of([first, second])
    assert choices.object_of(choices.stored[0]) is first
    assert choices.object_of(choices.stored[1]) is second


def test_a_label_is_no_text_that_is_a_choice_itself() -> None:
    choices = Choices.of([(1, 2), "(1, 2)"])
    assert [choices.object_of(stored) for stored in choices.stored] == [(1, 2), "(1, 2)"]


def test_a_long_label_is_cut() -> None:
    (label,) = Choices.of([list(range(100))]).stored
    assert len(str(label)) == LONGEST_LABEL


def test_a_value_listed_twice_counts_once() -> None:
    assert Choices.of([0.1, 0.2, 0.1, math.nan, math.nan]).stored[:2] == (0.1, 0.2)
    assert len(Choices.of([math.nan, math.nan]).stored) == 1


def test_numbers_of_numpy_are_plain() -> None:
    stored = Choices.of([np.int64(3), np.float32(0.5), np.str_("a")]).stored
    assert [type(value) for value in stored] == [int, float, str]
