from __future__ import annotations

import pytest

from hopyard.view.console import visible

pytestmark = pytest.mark.unit


def test_what_looks_like_markup_is_text() -> None:
    line = "[bold]x[/bold] :smile: https://example.com 'quoted' 42 [/]"
    assert visible(line).plain == line
    assert visible(line).spans == []


def test_colours_of_the_node_stay() -> None:
    text = visible("a \x1b[1;31mred\x1b[0m b")
    assert text.plain == "a red b"
    assert [(span.start, span.end, str(span.style)) for span in text.spans] == [(2, 5, "bold color(1)")]


@pytest.mark.parametrize(
    "escape",
    [
        "\x1b[2K",
        "\x1b[3A",
        "\x1b[?1049h",
        "\x1bc",
        "\x1b(0",
        "\x1b]0;title\x07",
        "\x1b]8;;http://a\x1b\\",
        "\x07",
        "\x08",
        "\x0e",
        "\x9b",
        "\x00",
    ],
)
def test_whatever_moves_the_cursor_or_changes_the_terminal_goes(escape: str) -> None:
    assert visible(f"be{escape}fore").plain == "before"
    assert visible(f"end{escape}").plain == "end"


def test_an_escape_without_an_end_goes() -> None:
    assert visible("end\x1b").plain == "end"


def test_of_a_progress_bar_the_last_state_stays() -> None:
    assert visible("10%\r50%\r100%\r").plain == "100%"
