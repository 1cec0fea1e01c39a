"""The columns of a table, and what becomes of them on a terminal that is too narrow: cut, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

GAP = "  "
ELLIPSIS = "…"


class Cut(Enum):
    """Where a cell loses text that has no room."""

    NOWHERE = "nowhere"
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its heading.
        cut: Where its cells may be cut.
        least: To how many characters they may be cut.
        is_optional: Whether it may be left out.
        is_first: Whether it gets the room that it wants before others get more than they need.
        is_peer: Whether it gets as much room as other columns of the same kind, wherever it stands.
    """

    name: str
    cut: Cut = Cut.NOWHERE
    least: int = 0
    is_optional: bool = False
    is_first: bool = False
    is_peer: bool = False


def fitted(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int
) -> tuple[list[Column], list[list[str]]] | None:
    """Returns the columns and cells that a table of some width shows; None if no table has room.

    Optional columns go first, the widest before the others; then cells are cut, those on the right more than those on
    the left. Peers get equal parts of the room that the others leave.

    Args:
        columns: The columns.
        rows: A cell for each column.
        width: How many characters a line has.
    """
    needs = [_need(column, [row[number] for row in rows]) for number, column in enumerate(columns)]
    shown = list(range(len(columns)))
    optional = [number for number in shown if columns[number].is_optional]
    for number in sorted(optional, key=lambda each: -needs[each].least):
        if _total([needs[each].least for each in shown]) <= width:
            break
        shown.remove(number)
    room = width - _total([needs[each].least for each in shown])
    if room < 0:
        return None
    widths: dict[int, int] = {}
    peers = sorted((each for each in shown if columns[each].is_peer), key=lambda each: needs[each].missing)
    others = sorted(
        (each for each in shown if not columns[each].is_peer), key=lambda each: not columns[each].is_first
    )
    for place, number in enumerate(others + peers):
        part = room if number in others else room // (len(shown) - place)
        more = min(part, needs[number].missing)
        widths[number] = needs[number].least + more
        room -= more
    cells = [[cut(row[number], widths[number], columns[number].cut) for number in shown] for row in rows]
    return [columns[number] for number in shown], cells


def shortened(column: Column, cells: Sequence[str]) -> Column:
    """Returns a column that is cut at the start, but not so far that what stands in it could not be told apart."""
    apart = len(set(cells))
    longest = max(map(len, cells), default=0)
    tells = (
        length
        for length in range(column.least, longest)
        if len({cell[1 - length :] for cell in cells}) == apart
    )
    return replace(column, least=next(tells, longest))


def cut(text: str, width: int, where: Cut) -> str:
    """Returns a text that has at most so many characters; an ellipsis stands for what is missing."""
    if len(text) <= width or where is Cut.NOWHERE:
        return text
    if where is Cut.START:
        return ELLIPSIS + text[len(text) - width + 1 :]
    return text[: width - 1] + ELLIPSIS


@dataclass(frozen=True, slots=True)
class _Need:
    """How wide a column is at least, and without any cut."""

    least: int
    whole: int

    @property
    def missing(self) -> int:
        return self.whole - self.least


def _need(column: Column, cells: Sequence[str]) -> _Need:
    longest = max(map(len, cells), default=0)
    heading = len(column.name)
    if column.cut is Cut.NOWHERE:
        return _Need(max(heading, longest), max(heading, longest))
    return _Need(max(heading, min(longest, column.least)), max(heading, longest))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)
