"""Where a run is shown: a terminal, a notebook, or lines in a file."""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from rich.live import Live
from rich.text import Text

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.training.view_console import SharedConsole
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


def screen_for(*, progress: bool | None, lock: threading.RLock) -> Screen | None:
    """Returns where to show a run; None if that is not wanted, or by default if nobody would look.

    Args:
        progress: Whether it is wanted; None for terminals and notebooks only.
        lock: Held by whoever writes to the terminal.
    """
    if progress is False:
        return None
    display = notebook_display()
    if display is not None:
        return NotebookScreen(display)
    if not is_terminal(sys.stderr):
        return LineScreen() if progress else None
    console = SharedConsole(sys.stderr, lock)
    return TerminalScreen(console) if console.is_interactive else LineScreen()


def is_terminal(stream: TextIO | None) -> bool:
    """Tells whether somebody looks at a stream; what a program put in its place may know less than a file."""
    isatty = getattr(stream, "isatty", None)
    try:
        return isatty is not None and bool(isatty())
    except ValueError:  # it is closed
        return False


def notebook_display() -> Callable[..., Any] | None:
    """Returns IPython's ``display`` in a notebook, None elsewhere."""
    ipython = sys.modules.get("IPython")  # in a notebook it is loaded
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    display: Callable[..., Any] = importlib.import_module("IPython.display").display
    return display


class TerminalScreen:
    """A table that stays at the bottom of the terminal; what the program prints and logs appears above it."""

    def __init__(self, console: SharedConsole) -> None:
        self._console = console
        # only a terminal: rich would take what is printed into a file and show it here
        takes_stdout = is_terminal(sys.stdout)
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=takes_stdout)
        streams = (sys.stdout, sys.stderr)
        handlers = [
            (handler, handler.stream)
            for handler in logging.getLogger().handlers
            if isinstance(handler, logging.StreamHandler) and handler.stream in streams
        ]
        with console:
            self._live.start()
        self._handlers = handlers
        for handler, stream in handlers:
            handler.setStream(sys.stdout if stream is streams[0] else sys.stderr)

    @property
    def console(self) -> SharedConsole:
        """The terminal."""
        return self._console

    def show(self, snapshot: Snapshot) -> None:
        """Draws the table anew."""
        with self._console:
            self._live.update(NodeTable(snapshot), refresh=True)

    def close(self, *, keep: bool) -> None:
        """Gives the terminal back."""
        for handler, stream in self._handlers:
            handler.setStream(stream)
        self._live.transient = not keep
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

    def show(self, snapshot: Snapshot) -> None:
        """Writes what is new."""
        lines = self._changes(snapshot)
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


def _summary(snapshot: Snapshot) -> str:
    if snapshot.missing:
        return snapshot.missing
    states = ", ".join(f"{count} {phase.value}" for phase, count in counts(snapshot.nodes).items())
    told = [node for node in snapshot.nodes if node.step is not None][:MOST_ROWS]
    return "; ".join([states, *map(_progress, told)])


def _progress(node: NodeStatus) -> str:
    return " ".join(filter(None, (f"{name(node)} step {node.step}", metrics(node))))
