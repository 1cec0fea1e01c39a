from __future__ import annotations

import pytest

from hopyard.search.trial.output import TAIL_LINES, TrialOutput

pytestmark = pytest.mark.unit


def heard(*lines: bytes, most_bytes: int = 1000) -> tuple[list[bytes], TrialOutput]:
    taken: list[bytes] = []
    output = TrialOutput("end", taken.append, most_bytes)
    for line in lines:
        output.feed(line)
    output.close()
    return taken, output


def test_lines_go_on_up_to_the_mark() -> None:
    lines, output = heard(b"one", b"two", b"", b"end")
    assert lines == [b"one", b"two"]
    assert output.is_complete


def test_output_without_a_last_line_break_is_whole() -> None:
    # the mark begins with a line break, which ends the trial's own last line
    assert heard(b"no line break", b"end")[0] == [b"no line break"]


def test_empty_lines_of_the_trial_stay() -> None:
    assert heard(b"", b"one", b"", b"", b"two", b"", b"", b"end")[0] == [b"", b"one", b"", b"", b"two", b""]


def test_a_process_that_dies_leaves_all_that_it_printed() -> None:
    lines, output = heard(b"one", b"")
    assert lines == [b"one", b""]
    assert not output.is_complete


def test_of_endless_output_the_beginning_and_the_last_lines_are_kept() -> None:
    lines, _ = heard(*(b"%06d" % number for number in range(10_000)), b"", b"end", most_bytes=700)
    assert lines[:100] == [b"%06d" % number for number in range(100)]
    assert lines[-TAIL_LINES:] == [b"%06d" % number for number in range(10_000 - TAIL_LINES, 10_000)]
    assert b"68,600 bytes of output are left out" in lines[100]
