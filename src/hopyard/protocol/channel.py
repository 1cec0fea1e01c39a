"""The way from a node's process to its supervisor: lines of JSON on a pipe.

A metric reported here costs microseconds and survives the death of the reporting process, whatever the
project's store is: the supervisor keeps it. This module is loaded into the user's process, so it imports
next to nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from hopyard.errors import BadMessage, NotInsideRun

VARIABLE = "HOPYARD_CHANNEL"
VERDICTS = "HOPYARD_VERDICTS"
JUDGE = "judge"
STOP, GO_ON = b"s", b"g"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The value of a metric at a step, as a node's process tells it."""

    name: str
    step: int
    value: float
    time: float

    def send(self, environ: Mapping[str, str]) -> None:
        """Hands this to the supervisor.

        Raises:
            NotInsideRun: The current process is not a node.
        """
        _send(asdict(self), environ, "report()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that the driver is to know of a node while it runs; a later one of the same name replaces it."""

    note: str
    text: str

    def send(self, environ: Mapping[str, str]) -> None:
        """Hands this to the supervisor.

        Raises:
            NotInsideRun: The current process is not a node.
        """
        _send(asdict(self), environ, f"the note {self.note!r}")


def is_hopeless(environ: Mapping[str, str]) -> bool:
    """Returns whether a trial is to end, given all that it has reported so far.

    The supervisor asks the driver and answers in any case: if the driver is gone, it ends this process.
    """
    Note(note=JUDGE, text="").send(environ)
    return os.read(int(environ[VERDICTS]), 1) != GO_ON


def parse(line: bytes) -> Reading | Note:
    """Returns what a line of the channel tells.

    Raises:
        BadMessage: It is not a line that `send` wrote.
    """
    try:
        fields = json.loads(line)
        if "note" in fields:
            return Note(note=str(fields["note"]), text=str(fields["text"]))
        return Reading(
            name=str(fields["name"]),
            step=int(fields["step"]),
            value=float(fields["value"]),
            time=float(fields["time"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise BadMessage(repr(line[:200]), f"{type(error).__name__}: {error}") from error


def _send(fields: Mapping[str, object], environ: Mapping[str, str], what: str) -> None:
    fd = environ.get(VARIABLE)
    if fd is None:
        raise NotInsideRun(what)
    line = memoryview(json.dumps(fields).encode() + b"\n")
    while line:  # short lines go out in one piece, so that threads and forked processes do not mix theirs
        line = line[os.write(int(fd), line) :]
