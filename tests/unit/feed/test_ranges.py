from __future__ import annotations

import random

import pytest

from hopyard.feed.ranges import Ranges

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("seed", range(20))
def test_ranges_are_the_set_of_their_numbers(seed: int) -> None:
    dice = random.Random(seed)
    ranges, numbers = Ranges(), set[int]()
    for _ in range(dice.randrange(12)):
        start = dice.randrange(40)
        stop = start + dice.randrange(8)
        ranges.add(start, stop)
        numbers |= set(range(start, stop))
    assert {number for start, stop in ranges for number in range(start, stop)} == numbers
    assert ranges.rows == len(numbers)
    missing = {number for start, stop in ranges.missing(5, 45) for number in range(start, stop)}
    assert missing == set(range(5, 45)) - numbers


def test_ranges_that_touch_become_one() -> None:
    assert list(Ranges([(5, 7), (0, 3), (3, 5)])) == [(0, 7)]


def test_ranges_are_equal_if_their_numbers_are() -> None:
    assert Ranges([(0, 2), (2, 4)]) == Ranges([(0, 4)])
    assert Ranges([(0, 2)]) != Ranges([(0, 3)])
