"""Where a run is shown: a terminal, a notebook, or lines in a file."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

from rich.console import Group
from rich.live import Live
from rich.text import Text

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.training.view_console import SharedConsole
from hopyard.training.view_detour import Detour
from hopyard.training.view_feed import Fed
from hopyard.training.view_place import is_terminal, notebook_display
from hopyard.training.view_snapshot import Snapshot, counts, metrics, name, names
from hopyard.training.view_table import MOST_ROWS, NodeTable

SUMMARY_SECONDS = 10


class Screen(Protocol):
    """A place where snapshots are shown, each in place of the one before."""

    @property
    def console(self) -> SharedConsole | None:
        """The terminal that nothing else may write to while the screen is open; None if it is none."""

    def show(self, snapshot: Snapshot) -> None:
        """Shows a snapshot."""

    def close(self, *, keep: bool) -> None:
        """Ends the showing, and leaves or removes what was shown last."""


def screen_for(
    *, progress: bool | None, lock: threading.RLock, earlier: Screen | None = None
) -> Screen | None:
    """Returns where to show a run; None if that is not wanted, or by default if nobody would look.

    Args:
        progress: Whether it is wanted; None for terminals and notebooks only.
        lock: Held by whoever writes to the terminal.
        earlier: Where the run was shown before: lines go on where they were.
    """
    if progress is False:
        return None
    display = notebook_display()
    if display is not None:
        return NotebookScreen(display)
    lines = earlier if isinstance(earlier, LineScreen) else LineScreen()
    if not is_terminal(sys.stderr):
        return lines if progress else None
    console = SharedConsole(sys.stderr, lock)
    return TerminalScreen(console) if console.is_interactive else lines


class TerminalScreen:
    """A table that stays at the bottom of the terminal; what the program prints and logs appears above it."""

    def __init__(self, console: SharedConsole) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        with console:
            self._live.start()
        self._detour = Detour(console)
        self._table: NodeTable | None = None

    @property
    def console(self) -> SharedConsole:
        """The terminal."""
        return self._console

    def show(self, snapshot: Snapshot) -> None:
        """Draws the table anew."""
        self._table = NodeTable(snapshot)
        with self._console:
            # an empty line below it: Spark draws its own progress over the line where the cursor is
            self._live.update(Group(self._table, Text()), refresh=True)

    def close(self, *, keep: bool) -> None:
        """Gives the terminal back."""
        self._live.transient = not keep
        if self._table is not None:
            self._live.update(self._table)
        try:
            self._detour.end()
        finally:
            with self._console:
                self._live.stop()


class NotebookScreen:
    """A table below the cell, updated in place; for rich's own live display one would have to install widgets."""

    console = None

    def __init__(self, display: Callable[..., Any]) -> None:
        """Prepares the screen.

        Args:
            display: IPython's function of that name.
        """
        self._display = display
        self._handle: Any = None

    def show(self, snapshot: Snapshot) -> None:
        """Updates the table."""
        if self._handle is None:
            self._handle = self._display(NodeTable(snapshot), display_id=True)
        else:
            self._handle.update(NodeTable(snapshot))

    def close(self, *, keep: bool) -> None:
        """Empties the output unless it is to be kept."""
        if not keep and self._handle is not None:
            self._handle.update(Text(""))


class LineScreen:
    """Lines on standard error: one for each change of a node's phase, and now and then how far the nodes are."""

    console = None

    def __init__(self) -> None:
        self._phases: dict[int, Phase] = {}
        self._summary_due = SUMMARY_SECONDS
        self._fed = 0

    def show(self, snapshot: Snapshot) -> None:
        """Writes what is new."""
        lines = [*self._changes(snapshot), *self._feeds(snapshot.feed)]
        if snapshot.seconds >= self._summary_due:
            self._summary_due = snapshot.seconds + SUMMARY_SECONDS
            lines.append(_summary(snapshot))
        head = f"{snapshot.title} {snapshot.elapsed}"
        sys.stderr.write("".join(f"{head} {line}\n" for line in lines))
        sys.stderr.flush()

    def close(self, *, keep: bool) -> None:
        """Does nothing: lines stay."""

    def _changes(self, snapshot: Snapshot) -> list[str]:
        changed = [
            node for node in snapshot.nodes if self._phases.get(node.rank, Phase.AWAITED) != node.phase
        ]
        self._phases = {node.rank: node.phase for node in snapshot.nodes}
        if len(changed) <= MOST_ROWS:
            return [f"{name(node)}: {node.phase.value} on {node.host}" for node in changed]
        return [
            f"{names(node for node in changed if node.phase is phase)}: {phase.value}"
            for phase in counts(changed)
        ]

    def _feeds(self, feed: Fed | None) -> list[str]:
        if feed is None or feed.number == self._fed:
            return []
        self._fed = feed.number
        return [feed.done]


def _summary(snapshot: Snapshot) -> str:
    if snapshot.missing:
        return snapshot.missing
    feed = snapshot.feed or Fed(rows={})
    states = ", ".join(f"{count} {phase.value}" for phase, count in counts(snapshot.nodes).items())
    fed = feed.of(snapshot.nodes)
    parts = [states, feed.under_way, "" if fed is None else fed.words]
    told = [node for node in snapshot.nodes if node.step is not None or node.rank in feed.rows][:MOST_ROWS]
    return "; ".join(filter(None, [*parts, *(_progress(node, feed) for node in told)]))


def _progress(node: NodeStatus, feed: Fed) -> str:
    rows = feed.of([node])
    step = "" if node.step is None else f"step {node.step}"
    parts = ("" if rows is None else f"has {rows.words}", " ".join(filter(None, (step, metrics(node)))))
    return f"{name(node)} {', '.join(filter(None, parts))}"
