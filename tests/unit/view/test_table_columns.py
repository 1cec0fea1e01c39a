from __future__ import annotations

import io

import pytest
from rich.console import Console, Group, RenderableType

from hopyard.view.table_columns import Column, cell, heading, line, room_for_rows, table

pytestmark = pytest.mark.unit

COLUMNS = (
    Column(name="one"),
    Column(name="two", is_optional=True),
    Column(name="three", least_width=40),
    Column(name="four", gives_way=True),
)


def drawn(shown: RenderableType, width: int) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(Group(shown))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def rows(second: str = "") -> list[list[str]]:
    return [["a", second, "c", "d" * 30]]


def drawn_table(second: str, width: int) -> list[str]:
    cells = [[cell(text) for text in row] for row in rows(second)]
    return drawn(table(COLUMNS, cells, width), width)


def test_a_column_in_which_there_is_nothing_can_be_left_out() -> None:
    assert drawn_table("", 60)[0] == "one  three  four"
    assert drawn_table("b", 60)[0] == "one  two  three  four"


def test_a_column_can_need_a_wide_terminal() -> None:
    assert drawn_table("", 39)[0] == "one  four"


def test_a_column_that_gives_way_is_cut() -> None:
    assert drawn_table("b", 41)[1] == "a    b    c      ddddddddddddddddddddddd…"


def test_a_line_without_room_is_cut() -> None:
    assert drawn(line(("words ", ""), ("and more", "bold")), 10) == ["words and…"]


def test_of_a_heading_without_room_the_end_of_the_title_stays() -> None:
    assert drawn(heading("app/run.1", ("0:00", "dim"), ("", ""), width=20), 20) == ["app/run.1  0:00"]
    assert drawn(heading("app/run.1", ("0:00", "dim"), ("", ""), width=12), 12) == ["…run.1  0:00"]


@pytest.mark.parametrize(("height", "room"), [(-3, 5), (12, 12), (100, 20)])
def test_there_is_room_for_few_rows_at_least_and_not_for_too_many(height: int, room: int) -> None:
    assert room_for_rows(height) == room
