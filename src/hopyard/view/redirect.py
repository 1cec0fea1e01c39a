"""The way of what a program prints and logs around the live display on its terminal."""

from __future__ import annotations

import io
import logging
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from hopyard.view.place import is_terminal

if TYPE_CHECKING:
    from hopyard.view.console import SharedConsole

STREAMS = ("stdout", "stderr")


class StdoutRedirect:
    """Has a console print what the program writes to its terminal, until it is ended.

    A table may be shown while the program goes on, and the program may put another stream in place meanwhile, with
    `contextlib.redirect_stdout` say. That one is left alone, and so is a stream that is no terminal.

    Args:
        console: Prints lines above its table.
    """

    def __init__(self, console: SharedConsole) -> None:
        streams: dict[str, TextIO] = {name: getattr(sys, name) for name in STREAMS}
        self._ways = {
            name: (stream, LineStream(console, stream))
            for name, stream in streams.items()
            if is_terminal(stream)
        }
        for name, (_, lines) in self._ways.items():
            setattr(sys, name, lines)
        self._move_handlers({id(stream): cast(TextIO, lines) for stream, lines in self._ways.values()})

    def end(self) -> None:
        """Puts the streams back."""
        self._move_handlers({id(lines): stream for stream, lines in self._ways.values()})
        for name, (stream, lines) in self._ways.items():
            if getattr(sys, name) is lines:
                setattr(sys, name, stream)
            lines.end()

    def _move_handlers(self, ways: dict[int, TextIO]) -> None:
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and id(handler.stream) in ways:
                handler.setStream(ways[id(handler.stream)])


class LineStream(io.TextIOBase):
    """Stands in for a terminal: has a console print whole lines, and holds back those that are written over.

    Unlike rich's `FileProxy` it does not show rich the stream beneath it: other consoles of rich would write there,
    into the live display. A progress bar goes back to the start of its line again and again; only what it leaves
    there at last is printed.

    Args:
        console: Prints the lines.
        stream: The terminal.
    """

    def __init__(self, console: SharedConsole, stream: TextIO) -> None:
        self._console = console
        self._stream = stream
        self._rest = ""
        self._is_over = False

    def __getattribute__(self, name: str) -> Any:
        # TextIOBase has these, and knows nothing of the stream
        if name in ("encoding", "errors", "newlines", "fileno", "isatty"):
            return getattr(self._stream, name)
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Prints the lines that are whole now."""
        with self._console:
            if self._is_over:  # somebody kept this stream for longer than there was something to go around
                return self._stream.write(text)
            *lines, rest = (self._rest + text).split("\n")
            self._rest = "\r" + rest.rpartition("\r")[2] if "\r" in rest else rest
            if lines:
                self._console.print_lines(lines)
        return len(text)

    def flush(self) -> None:
        """Prints what is no whole line yet, unless it may be written over."""
        with self._console:
            if self._is_over:
                self._stream.flush()
            elif "\r" not in self._rest:
                self._print_rest()

    def end(self) -> None:
        """Prints what is left; what is written from now on goes to the terminal as it is."""
        with self._console:
            if self._rest.strip():
                self._print_rest()
            self._is_over = True

    def _print_rest(self) -> None:
        if self._rest:
            rest, self._rest = self._rest, ""
            self._console.print_lines([rest])
