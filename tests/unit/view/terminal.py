"""A real terminal, and what a person would see on it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
import threading
from collections.abc import Callable
from typing import Self, TextIO

import pytest

_TOKEN = re.compile(r"\x1b\[(\?[0-9]+[hl]|[0-9;]*[A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Terminal:
    """A pseudo-terminal of any height; ``stream`` is what a program writes to."""

    def __init__(self, *, columns: int = 100, rows: int = 40) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.stream: TextIO = os.fdopen(slave, "w", encoding="utf-8")
        self._hung_up, self._hang_up = os.pipe()
        self._changed = threading.Condition()
        self._received = b""
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        os.close(self._hung_up)
        os.close(self._hang_up)
        with contextlib.suppress(OSError):  # what could not be written before cannot be written now
            self.stream.close()

    def hang_up(self) -> None:
        """Closes the window: whoever writes from now on gets an error."""
        os.write(self._hang_up, b"x")
        self._thread.join()

    def stop_output(self) -> None:
        """Does what Ctrl-S does."""
        termios.tcflow(self.stream.fileno(), termios.TCOOFF)

    def resume_output(self) -> None:
        """Does what Ctrl-Q does."""
        termios.tcflow(self.stream.fileno(), termios.TCOON)

    @property
    def received(self) -> str:
        """All that was written, as it was written."""
        return self._received.decode(errors="replace")

    @property
    def lines(self) -> list[str]:
        """What is to be seen, line by line."""
        return seen(self.received)

    def wait_until(self, condition: Callable[[list[str]], bool], seconds: float = 10) -> None:
        """Returns once what is to be seen fulfils a condition."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.lines), seconds):
                raise AssertionError("after {:.0f} s there was:\n{}".format(seconds, "\n".join(self.lines)))

    def check(self, expected: list[str]) -> None:
        """Returns if what is to be seen is as expected, now or soon: what was written is on its way."""
        self.wait_until(lambda lines: lines == [*expected, ""])

    def _read(self) -> None:
        while self._hung_up not in select.select([self._master, self._hung_up], [], [])[0]:
            received = os.read(self._master, 65536)
            with self._changed:
                self._received += received
                self._changed.notify_all()
        os.close(self._master)


def be_a_common_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes away what the environment says about terminals other than the one of the test."""
    for variable in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def seen(text: str) -> list[str]:
    """Returns the lines that a terminal without bounds shows of a text; unknown movements are an error."""
    lines, row, column = [""], 0, 0
    for token in _TOKEN.finditer(text):
        code = token[1]
        if token[0] == "\r":
            column = 0
        elif token[0] == "\n":
            row += 1
            lines.extend([""] * (row + 1 - len(lines)))
        elif code is None:
            lines[row] = lines[row][:column].ljust(column) + token[0] + lines[row][column + len(token[0]) :]
            column += len(token[0])
        elif code == "2K":
            lines[row] = ""
        elif code.endswith("A"):
            row -= int(code[:-1] or 1)
            assert row >= 0
        elif not code.endswith(("m", "h", "l")):
            raise AssertionError(f"unknown movement {code!r}")
    return [line.rstrip() for line in lines]
