from __future__ import annotations

import traceback

import pytest

from hopyard.interruption import explain, keeping_notes

pytestmark = pytest.mark.unit


def test_an_interrupt_ends_with_its_note_once() -> None:
    interrupt = KeyboardInterrupt()
    explain(interrupt, "the run was stopped")
    explain(interrupt, "the run was stopped")
    assert traceback.format_exception_only(interrupt) == ["KeyboardInterrupt\n", "the run was stopped\n"]


def interrupted_twice() -> None:
    try:
        first = KeyboardInterrupt()
        explain(first, "the run was stopped")
        raise first
    finally:
        raise KeyboardInterrupt


def test_a_second_interrupt_says_what_the_first_one_says_and_hides_it() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, keeping_notes():
        interrupted_twice()
    assert caught.value.__notes__ == ["the run was stopped"]
    assert "During handling" not in "".join(traceback.format_exception(caught.value))
