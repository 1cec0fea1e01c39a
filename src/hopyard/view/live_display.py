"""The live display of this process: whatever is shown on its terminal while it goes on has a place in it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from rich.console import ConsoleDimensions, ConsoleRenderable
from rich.live import Live
from rich.text import Text

from hopyard.view.console import SharedConsole
from hopyard.view.place import is_terminal
from hopyard.view.redirect import StdoutRedirect

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from hopyard.view.frame import Frame


@cache
def process_display() -> LiveDisplay:
    """Returns the display of this process; there is one, as there is one terminal."""
    return LiveDisplay()


class LiveDisplay:
    """Owns the terminal while something is shown on it: tables at its bottom, all other output above them.

    Two live displays of rich on one terminal draw over each other, and each takes the other's drawing for output of
    the program. So there is one for all runs, feeds, studies and bars, and each of them has a screen in it.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # held by whoever writes to the terminal
        self._screens: list[TerminalScreen] = []
        self._area: LiveArea | None = None

    def open(self) -> TerminalScreen:
        """Returns a new screen, below those that are open."""
        with self._lock:
            if self._area is None:
                self._area = LiveArea(SharedConsole(sys.stderr, self._lock))
            screen = TerminalScreen(self)
            self._screens.append(screen)
            return screen

    def draw(self) -> None:
        """Draws all screens anew."""
        with self._lock:
            if self._area is not None:
                self._area.draw(self._tables())

    def close(self, screen: TerminalScreen, *, keep: bool) -> None:
        """Takes a screen away; what it showed last is gone, or stays above those that are open."""
        with self._lock:
            self._screens.remove(screen)
            if self._area is not None and self._screens:
                self._area.draw(self._tables(), above=screen.table if keep else None)
            elif self._area is not None:
                area, self._area = self._area, None
                area.end(screen.table, keep=keep)

    def print_output(self, lines: Sequence[tuple[int, str, str]]) -> None:
        """Prints lines of nodes to standard output, above the tables if it is the terminal.

        Args:
            lines: For each line the node's rank, which gives the colour, the text before it, and the line.
        """
        with self._lock:
            if is_terminal(sys.stdout):
                console = self._area.console if self._area else SharedConsole(sys.stdout, self._lock)
                console.print_output(lines)
            else:
                sys.stdout.write("".join(f"{prefix}{line}\n" for _, prefix, line in lines))
                sys.stdout.flush()

    def _tables(self) -> list[ConsoleRenderable]:
        return [screen.table for screen in self._screens if screen.table is not None]


class TerminalScreen:
    """The place of one table in the display.

    Attributes:
        table: What is shown there now.
    """

    def __init__(self, display: LiveDisplay) -> None:
        self._display = display
        self.table: ConsoleRenderable | None = None

    def show(self, picture: Frame) -> None:
        """Draws the table anew."""
        self.table = picture.table()
        self._display.draw()

    def close(self, *, keep: bool) -> None:
        """Gives the place back, and leaves or removes what was shown last."""
        self._display.close(self, keep=keep)


class LiveArea:
    """The lines at the bottom of the terminal, and the way of all other output around them."""

    def __init__(self, console: SharedConsole) -> None:
        self.console = console
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        self._detour = StdoutRedirect(console)
        with console:
            self._live.start()

    def draw(self, tables: Sequence[ConsoleRenderable], *, above: ConsoleRenderable | None = None) -> None:
        """Draws tables in place of those drawn last.

        Args:
            tables: The tables, from top to bottom.
            above: What is printed above them at the same time, to stay.
        """
        with self.console:
            self._live.update(Stack(tables), refresh=True)
            if above is not None:
                self.console.print(above)

    def end(self, last: ConsoleRenderable | None, *, keep: bool) -> None:
        """Gives the terminal back, with the last table or without."""
        with self.console:
            self._live.transient = not keep
            try:
                if last is not None:
                    self._live.update(last)
                self._live.stop()
            finally:
                self._detour.end()


class Stack:
    """Tables one below the other, which share the height of the terminal."""

    def __init__(self, tables: Sequence[ConsoleRenderable]) -> None:
        self._tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._tables:
            return
        size = ConsoleDimensions(options.size.width, options.size.height // len(self._tables))
        for table in self._tables:
            yield from console.render(table, replace(options, size=size))
            # below each an empty line: Spark draws its own progress over the line where the cursor is
            yield from console.render(Text(), options)
