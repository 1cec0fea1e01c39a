"""Where something is shown: a terminal, a notebook, or lines in a file."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

from rich.console import ConsoleRenderable, Group
from rich.live import Live
from rich.text import Text

from hopyard.training.view_console import SharedConsole
from hopyard.training.view_detour import Detour
from hopyard.training.view_picture import Picture, clock
from hopyard.training.view_place import is_terminal, notebook_display

SUMMARY_SECONDS = 10


class Screen(Protocol):
    """A place where pictures are shown, each in place of the one before."""

    @property
    def console(self) -> SharedConsole | None:
        """The terminal that nothing else may write to while the screen is open; None if it is none."""

    def show(self, picture: Picture) -> None:
        """Shows a picture."""

    def close(self, *, keep: bool) -> None:
        """Ends the showing, and leaves or removes what was shown last."""


def screen_for(
    *, progress: bool | None, lock: threading.RLock, earlier: Screen | None = None
) -> Screen | None:
    """Returns where to show something; None if that is not wanted, or by default if nobody would look.

    Args:
        progress: Whether it is wanted; None for terminals and notebooks only.
        lock: Held by whoever writes to the terminal.
        earlier: Where it was shown before: lines go on where they were.
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
        self._table: ConsoleRenderable | None = None

    @property
    def console(self) -> SharedConsole:
        """The terminal."""
        return self._console

    def show(self, picture: Picture) -> None:
        """Draws the table anew."""
        self._table = picture.table()
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

    def show(self, picture: Picture) -> None:
        """Updates the table."""
        if self._handle is None:
            self._handle = self._display(picture.table(), display_id=True)
        else:
            self._handle.update(picture.table())

    def close(self, *, keep: bool) -> None:
        """Empties the output unless it is to be kept."""
        if not keep and self._handle is not None:
            self._handle.update(Text(""))


class LineScreen:
    """Lines on standard error: one for whatever is new, and now and then one on how it is going."""

    console = None

    def __init__(self) -> None:
        self._earlier: Picture | None = None
        self._summary_due = SUMMARY_SECONDS

    def show(self, picture: Picture) -> None:
        """Writes what is new."""
        lines = [*picture.news(self._earlier)]
        self._earlier = picture
        if picture.seconds >= self._summary_due:
            self._summary_due = picture.seconds + SUMMARY_SECONDS
            lines.append(picture.summary())
        head = f"{picture.title} {clock(picture.seconds)}"
        sys.stderr.write("".join(f"{head} {line}\n" for line in filter(None, lines)))
        sys.stderr.flush()

    def close(self, *, keep: bool) -> None:
        """Does nothing: lines stay."""
