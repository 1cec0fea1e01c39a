from __future__ import annotations

import pytest

import hopyard
from hopyard.cluster.tail import SEARCHED_LINES, TAIL_LINES, Tail, last_lines
from hopyard.errors import NodeFailed

pytestmark = pytest.mark.unit

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 7, in train
    raise ValueError("row 17 is\\nbroken")
ValueError: row 17 is
broken
"""


def print_and_fail() -> None:
    print("epoch 1")
    print("ValueError: not this one")
    raise ValueError("row 17\nis broken")


def test_the_traceback_that_the_error_shows_is_not_repeated() -> None:
    assert last_lines(["epoch 1", *TRACEBACK.splitlines(), "bye"], TRACEBACK) == ("epoch 1", "bye")


def test_another_traceback_stays() -> None:
    other = TRACEBACK.replace("17", "18").splitlines()
    assert last_lines(other, TRACEBACK) == tuple(other)


def test_a_traceback_of_which_the_beginning_is_forgotten_is_not_repeated() -> None:
    long = "\n".join(f"  frame {number}" for number in range(SEARCHED_LINES + 5))
    tail = Tail()
    for line in ("epoch 1", *long.splitlines(), "bye"):
        tail.add(line)
    assert tail.last(long) == ("bye",)


def test_only_so_many_lines_are_shown() -> None:
    lines = [f"line {number}" for number in range(100)]
    assert last_lines(lines) == tuple(lines[-TAIL_LINES:])


def test_an_error_shows_its_traceback_once() -> None:
    with pytest.raises(NodeFailed) as caught:
        hopyard.launch(print_and_fail, backend="processes")
    assert caught.value.tail == ("epoch 1", "ValueError: not this one")
    assert str(caught.value).count("Traceback (most recent call last)") == 1
