"""Output of the command: rich on a terminal, plain aligned lines into a pipe.

Plain output is never cut, wrapped or coloured, so that it can be searched and cut by other programs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from hopyard.cli.output.columns import GAP, Column, fitted
from hopyard.view.frame import printable, printable_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def terminal(*, stderr: bool = False) -> Console | None:
    """Returns the terminal that standard output (or error) is, or None where it is a file or a pipe."""
    from rich.console import Console

    # made anew each time: standard output may have been redirected meanwhile
    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    return console if console.is_terminal else None


def line(text: str = "", *, style: str | None = None) -> None:
    """Prints a line, or several, at once; control characters in it are spelled out."""
    console, text = terminal(), printable_lines(text)
    if console is None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()  # whoever reads the pipe follows what happens
    else:
        console.print(text, style=style, soft_wrap=True)


def stream(lines: Iterable[str]) -> int:
    """Prints lines of somebody else as they come, each with its own line end; returns how many there were."""
    count = 0
    for text in lines:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
        count += 1
    return count


def error(text: str) -> None:
    """Prints what went wrong to standard error."""
    _to_stderr("error: ", text, style="bold red")


def warning(text: str) -> None:
    """Prints something to look at to standard error."""
    _to_stderr("warning: ", text, style="bold yellow")


def note(text: str) -> None:
    """Prints what is going on to standard error, where it does not mix with results."""
    _to_stderr("", text, style="")


def busy(text: str) -> AbstractContextManager[object]:
    """Shows on a terminal that something is being done, while open."""
    from hopyard.view.activity import Activity, showing

    return nullcontext() if terminal() is None else showing(Activity(text))


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, styles: Mapping[str, str] | None = None
) -> None:
    """Prints rows under headings.

    On a terminal, cells are cut and columns left out until the table has room. If that does not help, each row
    becomes a block: its first cell on a line of its own, the others below it. Where columns are peers, all cells but
    theirs are on the first line, and theirs have their headings.

    Args:
        columns: The columns.
        rows: The cells; line breaks in them become spaces, and other control characters are spelled out.
        styles: The rich style of cells with a certain text.
    """
    cells = [list(map(printable, row)) for row in rows]
    columns = [replace(column, name=printable(column.name)) for column in columns]
    console = terminal()
    if console is None:
        headings = [column.name for column in columns]
        sys.stdout.writelines(f"{text}\n" for text in aligned([headings, *cells]))
        return
    shown = fitted(columns, cells, console.width)
    if shown is None:
        console.print(*_blocks(columns, cells, styles or {}), sep="\n")
    else:
        console.print(_rich_table(*shown, styles or {}))


def report(rows: Sequence[Sequence[str]], *, styles: Mapping[str, str]) -> None:
    """Prints rows without headings, whose last cell is a sentence that a terminal may wrap.

    Args:
        rows: The cells.
        styles: The rich style of cells with a certain text.
    """
    console = terminal()
    if console is None:
        sys.stdout.writelines(f"{text}\n" for text in aligned(rows))
        return
    from rich.table import Table

    grid = Table.grid(padding=(0, len(GAP), 0, 0))
    for column in range(len(rows[0])):
        grid.add_column(no_wrap=column < len(rows[0]) - 1, overflow="fold")
    _add_rows(grid, rows, styles)
    console.print(grid)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns rows as lines whose columns start at the same place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Mapping[str, str]) -> Table:
    from rich.table import Table

    result = Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        # as wide as counted in characters, whatever rich makes of them
        result.add_column(
            column.name, no_wrap=True, width=max(len(column.name), *(len(row[number]) for row in rows))
        )
    _add_rows(result, rows, styles)
    return result


def _add_rows(target: Table, rows: Sequence[Sequence[str]], styles: Mapping[str, str]) -> None:
    from rich.text import Text

    for row in rows:
        target.add_row(*(Text(cell, style=styles.get(cell, "")) for cell in row))


def _blocks(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Mapping[str, str]
) -> list[object]:
    from rich.padding import Padding
    from rich.text import Text

    peers = [number for number, column in enumerate(columns) if column.is_peer]
    below = peers or list(range(1, len(columns)))
    blocks: list[object] = []
    for row in rows:
        first = " ".join(cell for number, cell in enumerate(row) if number not in below and cell)
        blocks.append(Text(first, style="bold", overflow="fold"))
        parts = [
            Text(f"{columns[number].name}=" if peers else "").append(row[number], styles.get(row[number], ""))
            for number in below
            if row[number]
        ]
        blocks.append(Padding(Text(GAP).join(parts), (0, 0, 0, len(GAP))))
    return blocks


def _to_stderr(label: str, text: str, *, style: str) -> None:
    console, text = terminal(stderr=True), printable_lines(text)
    if console is None:
        sys.stderr.write(f"{label}{text}\n")
    else:
        console.print(label, style=style, end="")
        console.print(text, soft_wrap=True)
