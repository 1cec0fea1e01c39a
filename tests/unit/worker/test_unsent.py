from __future__ import annotations

import json

import pytest

from hopyard.wire.message import MAX_MESSAGE_BYTES
from hopyard.worker.unsent import LONGEST_LINE, MOST_CHARACTERS, MOST_LINES, UnsentLines

pytestmark = pytest.mark.unit


def test_lines_are_taken_once_and_in_order() -> None:
    unsent = UnsentLines()
    unsent.add("a")
    unsent.add("b")
    assert unsent.take() == ("a", "b")
    assert unsent.take() == ()


def test_a_very_long_line_is_cut() -> None:
    unsent = UnsentLines()
    unsent.add("x" * LONGEST_LINE)
    unsent.add("x" * (LONGEST_LINE + 1))
    assert unsent.take() == ("x" * LONGEST_LINE, "x" * LONGEST_LINE + " ...")


def test_what_is_too_much_is_counted_and_told() -> None:
    unsent = UnsentLines()
    for number in range(MOST_LINES + 3):
        unsent.add(str(number))
    *lines, last = unsent.take()
    assert lines == [str(number) for number in range(MOST_LINES)]
    assert last == "[hopyard] 3 more lines are in the log only"
    unsent.add("again")
    assert unsent.take() == ("again",)


@pytest.mark.parametrize("character", ["x", "ü", "😀", "\x1b", '"'])
def test_whatever_a_node_prints_fits_into_a_message(character: str) -> None:
    unsent = UnsentLines()
    for _ in range(2 * MOST_LINES):
        unsent.add(character * 2 * LONGEST_LINE)
    message = json.dumps(unsent.take(), ensure_ascii=False).encode()
    assert len(message) < MAX_MESSAGE_BYTES * 0.8


def test_no_line_follows_one_that_is_missing() -> None:
    unsent = UnsentLines()
    for _ in range(MOST_CHARACTERS // LONGEST_LINE):
        unsent.add("x" * LONGEST_LINE)
    unsent.add("does not fit")
    unsent.add("")
    assert unsent.take()[-1] == "[hopyard] 2 more lines are in the log only"
