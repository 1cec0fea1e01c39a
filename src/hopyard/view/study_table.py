"""A study as a table: how far it is, the best trial so far, and a row for each trial that is under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hopyard.view.frame import clock
from hopyard.view.study_snapshot import (
    FAILED,
    FINISHED,
    RUNNING,
    STOPPED,
    BestTrial,
    StudySnapshot,
    TrialRow,
)
from hopyard.view.table_columns import Cell, Column, Parts, cell, heading, line, room_for_rows, table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

OTHER_LINES = 8  # heading, bar, counts, best, failure, names of the columns, those left out, an empty one
LONGEST_BAR = 40
SHORTEST_BAR = 8
STYLES = {FINISHED: "green", RUNNING: "cyan", STOPPED: "magenta", FAILED: "bold red"}
COLUMNS = (
    Column(name="trial", justify="right"),
    Column(name="slot", justify="right", goes=2),
    Column(name="host", is_optional=True, least_width=80, goes=1),
    Column(name="params", gives_way=True),  # on a narrow terminal
    Column(name="step", justify="right", is_optional=True),
    Column(name="metrics", gives_way=True, is_optional=True, goes=3),
    Column(name="time", justify="right"),
)


class StudyTable:
    """A snapshot, to be shown by rich on a terminal or in a notebook; as high and as wide as there is room."""

    def __init__(self, snapshot: StudySnapshot) -> None:
        self._snapshot = snapshot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        snapshot, width = self._snapshot, options.max_width
        yield heading(snapshot.title, (clock(snapshot.seconds), "dim"), width=width)
        yield _progress(snapshot, width)
        if snapshot.counts:
            yield _counts(snapshot)
        if snapshot.best is not None:
            yield _best(snapshot.best, width, is_last=snapshot.is_over)
        if snapshot.direction:
            yield line((snapshot.direction, "dim"))
        if snapshot.failures:
            yield line((snapshot.failures[-1], "red"))
        if snapshot.waiting:
            yield line((snapshot.waiting, "yellow"))
        if snapshot.rows:
            shown = snapshot.rows[
                : room_for_rows(options.size.height - OTHER_LINES - bool(snapshot.direction))
            ]
            yield table(COLUMNS, [_cells(row) for row in shown], width)
            more = snapshot.counts[RUNNING] - len(shown)
            if more:
                yield line((f"and {more} more", "dim"))


def _progress(snapshot: StudySnapshot, width: int) -> Table:
    """Returns how far the study is: with a bar, if it has an end and there is room."""
    words = [cell(snapshot.progress), cell(snapshot.left, "cyan")]
    room = width - sum(len(each) + 2 for each in words)
    grid = Table.grid(padding=(0, 2, 0, 0))
    if snapshot.total is None or room < SHORTEST_BAR:
        grid.add_row(*words)
    else:
        bar = ProgressBar(total=snapshot.total, completed=snapshot.done, width=min(room, LONGEST_BAR))
        grid.add_row(bar, *words)
    return grid


def _counts(snapshot: StudySnapshot) -> Text:
    return cell(", ").join([cell(f"{count} {word}", STYLES[word]) for word, count in snapshot.counts.items()])


def _best(best: BestTrial, width: int, *, is_last: bool) -> Text:
    """Returns the best trial on one line; at the end in full, since it then stays."""
    begins, params = f"best: trial {best.number}  ", Parts(best.params, " ")
    room = width - cell_len(f"{begins}{best.value}  ")
    parts = (
        (begins, ""),
        (best.value, "bold green"),
        (f"  {params.plain if is_last else params.within(room)}", ""),
    )
    return Text.assemble(*parts) if is_last else line(*parts)


def _cells(row: TrialRow) -> Sequence[Cell]:
    return (
        cell(str(row.number)),
        cell(str(row.slot)),
        cell(row.host),
        Parts(row.params, " "),
        cell("" if row.step is None else str(row.step)),
        Parts(row.metrics, ", "),
        cell(clock(row.seconds)),
    )
