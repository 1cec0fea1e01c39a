"""A terminal that several threads write to, and the output of nodes on it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any, Self, TextIO

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.text import Text

COLOURS = ("cyan", "magenta", "green", "blue", "yellow", "bright_cyan", "bright_magenta", "bright_green")
_ESCAPE = re.compile(r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]|[ -/]*.)?")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = dict.fromkeys(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\x1b")


class SharedConsole(Console):
    """A terminal on which what one thread prints appears as a whole.

    rich works out how far up its live table begins when it renders, not when it writes; another thread that writes
    in between would leave parts of the table behind. Here a thread that renders holds the lock until it has written.
    The lock comes before those of rich: whoever touches the live table does it ``with`` the console.
    """

    def __init__(self, stream: TextIO, lock: threading.RLock) -> None:
        super().__init__(file=stream, markup=False, emoji=False, highlight=False)
        self._gate = lock

    def __enter__(self) -> Self:
        self._gate.acquire()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            super().__exit__(*error)
        finally:
            self._gate.release()

    def print_output(self, lines: Iterable[tuple[int, str, str]]) -> None:
        """Prints lines of nodes above the live table, if there is one.

        Args:
            lines: For each line the node's rank, which gives the colour, the text before it, and the line.
        """
        self._print([_coloured(*line) for line in lines])

    def print_lines(self, lines: Iterable[str]) -> None:
        """Prints lines of the program above the live table, if there is one."""
        self._print([visible(line) for line in lines])

    def _print(self, lines: Iterable[Text]) -> None:
        with self:
            # the terminal wraps, so that what is copied from it is whole
            self.print(Text("\n").join(lines), soft_wrap=True)


def _coloured(rank: int, prefix: str, line: str) -> Text:
    return Text.assemble((prefix, COLOURS[rank % len(COLOURS)]), visible(line))


def visible(line: str) -> Text:
    """Returns what a terminal would leave of a line: colours stay, whatever moves the cursor goes."""
    last = line.rstrip("\r").rpartition("\r")[2]  # progress bars write over themselves
    harmless = _ESCAPE.sub(_only_colour, last).translate(_CONTROL)
    return AnsiDecoder().decode_line(harmless) if "\x1b" in harmless else Text(harmless)


def _only_colour(match: re.Match[str]) -> str:
    return match[0] if _COLOUR.fullmatch(match[0]) else ""
