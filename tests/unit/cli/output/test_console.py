from __future__ import annotations

import re

import pytest

from hopyard.cli.output import console
from hopyard.cli.output.columns import Column, Cut

pytestmark = pytest.mark.unit
COLUMNS = (Column(name="RUN"), Column(name="STATE"), Column(name="LAST", cut=Cut.END, least=6))
ROWS = [("app-1/launcher/run.1", "FAILED", "it\nbroke"), ("app-1/launcher/run.2", "FINISHED", "x" * 300)]


def test_a_piped_table_is_aligned_and_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    console.table(COLUMNS, ROWS)
    heading, first, second = capsys.readouterr().out.splitlines()
    assert first == "app-1/launcher/run.1  FAILED    it broke"
    assert second.endswith("x" * 300)
    assert heading.index("STATE") == first.index("FAILED") == second.index("FINISHED")


def test_a_piped_table_has_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    console.table(COLUMNS, ROWS, styles={"FAILED": "red"})
    assert "\x1b" not in capsys.readouterr().out


def test_a_wide_terminal_shows_a_coloured_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch, columns=80)
    console.table(COLUMNS, ROWS[:1], styles={"FAILED": "red"})
    heading, row = capsys.readouterr().out.splitlines()
    assert "STATE" in heading
    assert "\x1b[31mFAILED" in row


def test_a_cell_that_is_too_long_is_cut_and_the_table_stays_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch, columns=80)
    monkeypatch.setenv("NO_COLOR", "1")
    console.table(COLUMNS, ROWS)
    lines = strip_bold([line.rstrip() for line in capsys.readouterr().out.splitlines()])
    assert [line.index(word) for line, word in zip(lines, ("STATE", "FAILED", "FINISHED"), strict=True)] == [
        22
    ] * 3
    assert lines[2].endswith("x…")
    assert len(lines[2]) == 80


def test_a_narrow_terminal_shows_peers_with_their_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch, columns=20)
    monkeypatch.setenv("NO_COLOR", "1")
    letters = [Column(name=letter, cut=Cut.END, least=8, is_peer=True) for letter in "ABC"]
    columns = [Column(name=" "), Column(name="WHAT"), *letters]
    console.table(columns, [("*", "error", "broken", "", "so it is"), ("", "state", *["FAILED"] * 3)])
    plain = re.sub("\x1b\\[[0-9]*m| +$", "", capsys.readouterr().out, flags=re.MULTILINE)
    assert plain.splitlines() == [
        "* error",
        "  A=broken  C=so it",
        "  is",
        "state",
        "  A=FAILED  B=FAILED",
        "  C=FAILED",
    ]


def test_a_narrow_terminal_shows_each_row_as_a_block(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch, columns=30)
    monkeypatch.setenv("NO_COLOR", "1")
    console.table(COLUMNS, ROWS[:1])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert strip_bold(lines) == ["app-1/launcher/run.1", "  FAILED  it broke"]


def test_a_report_wraps_its_sentences_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch, columns=40)
    console.report([("ok", "Java", "a sentence that is too long for this terminal")], styles={})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)


def test_errors_and_warnings_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    console.error("it broke [0] at once")
    console.warning("look here")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: it broke [0] at once\nwarning: look here\n"


def test_control_characters_are_spelled_out_wherever_text_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console.table([Column(name="x\x1b[2J")], [["\x9b31mred\x07"]])
    console.line("two\n\tlines\x1b[0m")
    console.error("\x1b]0;title\x07")
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [r"x\x1b[2J", r"\x9b31mred\x07", "two", r"	lines\x1b[0m"]
    assert captured.err == "error: \\x1b]0;title\\x07\n"


def test_markup_in_a_text_is_shown_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch, columns=80)
    console.line("pip install 'hopyard[demo]' [bold]")
    assert capsys.readouterr().out == "pip install 'hopyard[demo]' [bold]\n"


def pretend_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Makes rich write as it does to a terminal of that width."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.delenv("NO_COLOR", raising=False)


def strip_bold(lines: list[str]) -> list[str]:
    """Removes what NO_COLOR leaves: bold is no colour."""
    return [line.replace("\x1b[1m", "").replace("\x1b[0m", "").rstrip() for line in lines]
