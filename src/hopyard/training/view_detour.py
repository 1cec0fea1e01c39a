"""The way of what a program prints and logs around the table on its terminal."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, TextIO, cast

from rich.file_proxy import FileProxy

from hopyard.training.view_place import is_terminal

if TYPE_CHECKING:
    from rich.console import Console

STREAMS = ("stdout", "stderr")


class Detour:
    """Has a console print what the program writes to its terminal, until it is ended.

    A table may be shown while the program goes on, and the program may put another stream in place meanwhile, with
    `contextlib.redirect_stdout` say. That one is left alone, and so is a stream that is no terminal.

    Args:
        console: Prints lines above its table.
    """

    def __init__(self, console: Console) -> None:
        streams: dict[str, TextIO] = {name: getattr(sys, name) for name in STREAMS}
        self._ways = {
            name: (stream, cast(TextIO, FileProxy(console, stream)))
            for name, stream in streams.items()
            if is_terminal(stream)
        }
        for name, (_, proxy) in self._ways.items():
            setattr(sys, name, proxy)
        self._move_handlers({id(stream): proxy for stream, proxy in self._ways.values()})

    def end(self) -> None:
        """Puts the streams back."""
        self._move_handlers({id(proxy): stream for stream, proxy in self._ways.values()})
        for name, (stream, proxy) in self._ways.items():
            if getattr(sys, name) is proxy:
                setattr(sys, name, stream)
            proxy.flush()  # what is not a whole line yet

    def _move_handlers(self, ways: dict[int, TextIO]) -> None:
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and id(handler.stream) in ways:
                handler.setStream(ways[id(handler.stream)])
