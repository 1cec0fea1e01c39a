"""Tables and lines for terminals of any width: what has no room is left out or cut, never wrapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal

from rich.table import Table
from rich.text import Text

from hopyard.view.frame import MOST_ROWS

LEAST_ROWS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table; one that is optional is there if a row has something in it, and if there is room."""

    name: str
    justify: Literal["left", "right"] = "left"
    gives_way: bool = False
    is_optional: bool = False
    least_width: int = 0


def table(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> Table:
    """Returns a table with a cell in each row for each column.

    Args:
        columns: What the columns are like.
        rows: The cells.
        width: How wide the terminal is.
    """
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    shown = [
        width >= column.least_width and (not column.is_optional or any(row[number].plain for row in rows))
        for number, column in enumerate(columns)
    ]
    for column in compress(columns, shown):
        drawn.add_column(column.name, justify=column.justify, no_wrap=not column.gives_way)
    for row in rows:
        drawn.add_row(*compress(row, shown))
    return drawn


def room_for_rows(height: int) -> int:
    """Returns how many rows to show where so many lines are left for them."""
    return max(LEAST_ROWS, min(MOST_ROWS, height))


def heading(title: str, *rest: tuple[str, str], width: int) -> Text:
    """Returns a line with a title, which is cut if need be, and some text after it.

    Args:
        title: What is shown.
        rest: Pieces of text, each with its style; what is empty is left out.
        width: How wide the terminal is.
    """
    pieces = [(f"  {text}", style) for text, style in rest if text]
    room = width - sum(len(text) for text, _ in pieces)
    if len(title) > room:  # its end tells which run it is
        title = "…" + title[len(title) - max(room, 1) + 1 :]
    return line((title, "bold"), *pieces)


def cell(text: str, style: str = "") -> Text:
    """Returns a cell, which is cut if need be."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def line(*parts: tuple[str, str]) -> Text:
    """Returns a line of pieces of text, each with its style."""
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")
