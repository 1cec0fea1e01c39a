"""Tables and lines for terminals of any width: what has no room is left out or cut, never wrapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, set_cell_size
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hopyard.view.frame import MOST_ROWS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

LEAST_ROWS = 5
GAP = 2
LEAST_WORDS = 9  # characters of a column that gives way, below which others go


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table; one that is optional is there if a row has something in it, and if there is room."""

    name: str
    justify: Literal["left", "right"] = "left"
    gives_way: bool = False
    is_optional: bool = False
    least_width: int = 0
    goes: int = 0  # where there is no room for whole cells, columns are left out in this order; 0 stays


@dataclass(frozen=True, slots=True)
class Parts:
    """A cell of several words that each stay whole, such as a number with its name: the last ones go where there is no room.

    Attributes:
        words: The words.
        gap: What is between them.
    """

    words: Sequence[str]
    gap: str

    @property
    def plain(self) -> str:
        """All of it, as text."""
        return self.gap.join(self.words)

    def within(self, width: int) -> str:
        """Returns as many words as have room, and an ellipsis for the others."""
        if cell_len(self.plain) <= width:
            return self.plain
        for count in range(len(self.words) - 1, 0, -1):
            text = f"{self.gap.join(self.words[:count])}{self.gap}…"
            if cell_len(text) <= width:
                return text
        alone = (f"{self.words[0]} …", self.words[0])
        return next(
            (text for text in alone if cell_len(text) <= width), _with_short_name(self.words[0], width)
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield line((self.within(options.max_width), ""))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, cell_len(self.plain)))


Cell = Text | Parts


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> Table:
    """Returns a table with a cell in each row for each column.

    Args:
        columns: What the columns are like.
        rows: The cells.
        width: How wide the terminal is.
    """
    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    shown = [
        width >= column.least_width and (not column.is_optional or any(row[number].plain for row in rows))
        for number, column in enumerate(columns)
    ]
    _leave_out(columns, rows, shown, width)
    for column in compress(columns, shown):
        drawn.add_column(column.name, justify=column.justify, no_wrap=not column.gives_way)
    for row in rows:
        drawn.add_row(*compress(row, shown))
    return drawn


def _widest(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[int]:
    return [max((cell_len(row[number].plain) for row in rows), default=0) for number in range(len(columns))]


def _with_short_name(word: str, width: int) -> str:
    """Returns a name with its number, of which only the name is cut; an ellipsis where that does not help."""
    place = max(word.rfind("="), word.rfind(" "))
    room = width - cell_len(word[place:]) - 1
    if place < 1 or room < 1:
        return "…"
    return f"{set_cell_size(word[:place], min(room, cell_len(word[:place]))).rstrip()}…{word[place:]}"


def _leave_out(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], shown: list[bool], width: int
) -> None:
    """Leaves out columns until those that are shown have room; a number that is cut would be another number."""
    needs = [
        max(len(column.name), min(widest, LEAST_WORDS) if column.gives_way else widest)
        for column, widest in zip(columns, _widest(columns, rows), strict=True)
    ]
    for number in sorted(range(len(columns)), key=lambda each: columns[each].goes):
        if sum(need + GAP for need in compress(needs, shown)) - GAP <= width:
            return
        if columns[number].goes:
            shown[number] = False


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
