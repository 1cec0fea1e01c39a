"""A program on a terminal of a certain size, and what a person sees there from moment to moment."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import pyte

ALONE = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES", "NO_COLOR")
SIZES = [(80, 24), (200, 50)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was to be seen of a program.

    Attributes:
        moments: All lines, those that have left the screen at its top included, after each time that something was written.
        code: The exit code.
    """

    moments: Sequence[Sequence[str]]
    code: int

    @property
    def end(self) -> list[str]:
        """The lines at the end, without empty ones."""
        return [line for line in self.moments[-1] if line]

    def bars(self) -> list[str]:
        """Returns each different line that held a bar, in the order in which they came."""
        found = (line for moment in self.moments for line in moment if "━" in line)
        return list(dict.fromkeys(found))

    def check_no_line_twice(self) -> None:
        """Fails if a line ever was to be seen more than once at the same time."""
        for moment in self.moments:
            twice = [line for line, count in Counter(filter(None, moment)).items() if count > 1]
            assert not twice, "\n".join(moment)


@dataclass(slots=True)
class Emulator:
    """A terminal that remembers what has left it at its top."""

    columns: int
    rows: int
    screen: pyte.HistoryScreen = field(init=False)
    stream: pyte.ByteStream = field(init=False)

    def __post_init__(self) -> None:
        self.screen = pyte.HistoryScreen(self.columns, self.rows, history=10_000)
        self.stream = pyte.ByteStream(self.screen)

    def lines(self) -> list[str]:
        above = [
            "".join(row[column].data for column in range(self.columns)) for row in self.screen.history.top
        ]
        return [line.rstrip() for line in (*above, *self.screen.display)]


def watch_program(
    command: Sequence[str],
    *,
    columns: int,
    rows: int,
    environment: Mapping[str, str],
    timeout: float = 60.0,
    on_sight: Mapping[str, Callable[[], None]] = MappingProxyType({}),
) -> Seen:
    """Runs a program to its end and returns what was to be seen.

    Args:
        command: The program and its arguments.
        columns: How wide the terminal is.
        rows: How high.
        environment: The program's variables.
        timeout: When the program is ended, in seconds.
        on_sight: What to do as soon as a text is to be seen.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    variables = {name: value for name, value in environment.items() if name not in ALONE}
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**variables, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(slave)
    emulator = Emulator(columns, rows)
    moments: list[list[str]] = []
    awaited = dict(on_sight)
    deadline = time.monotonic() + timeout
    try:
        while (data := _read(master, timeout)) is not None:
            assert time.monotonic() < deadline, "\n".join(emulator.lines())
            emulator.stream.feed(data)
            moments.append(emulator.lines())
            for text in [text for text in awaited if text in "\n".join(moments[-1])]:
                awaited.pop(text)()
        code = process.wait(timeout)
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return Seen(moments=[*moments, emulator.lines()], code=code)


def _read(master: int, seconds: float) -> bytes | None:
    """Returns what was written within so many seconds, or None if nobody can write any more."""
    if not select.select([master], [], [], seconds)[0]:
        return b""
    try:
        return os.read(master, 65536) or None
    except OSError:  # all ends of the other side are closed
        return None
