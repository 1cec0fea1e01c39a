"""The process that a run is driven by: whether it still lives, as far as that can be known from here."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from hopyard.codec.json_value import Json

STATE, START = 0, 19  # fields of /proc/<pid>/stat after the command
DEAD = "ZX"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverProcess:
    """A process, for good: no later one is taken for it, whatever number it has.

    Attributes:
        host: The machine, as it calls itself.
        machine: The start of that machine's kernel and the space in which its process numbers count; containers have
            spaces of their own. Empty where the system does not tell.
        pid: Its number there.
        start: When it began, in ticks of that kernel.
    """

    host: str
    machine: str
    pid: int
    start: int

    @classmethod
    def this(cls) -> Self:
        """Returns this process."""
        pid = os.getpid()
        stat = _stat(pid)
        return cls(
            host=socket.gethostname(), machine=_machine(), pid=pid, start=int(stat[START]) if stat else 0
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self | None:
        """Returns the process that a record tells of; None if it tells of none."""
        match stored:
            case {"host": str(host), "machine": str(machine), "pid": int(pid), "start": int(start)}:
                return cls(host=host, machine=machine, pid=pid, start=start)
        return None

    def to_json(self) -> dict[str, Json]:
        """Returns it as a record keeps it."""
        return asdict(self)

    def lives(self) -> bool | None:
        """Tells whether it is there; None where that cannot be known, since it is or was on another machine."""
        if not self.machine or (self.host, self.machine) != (socket.gethostname(), _machine()):
            return None
        if not _exists(self.pid):
            return False
        stat = _stat(self.pid)
        if stat is None:  # some systems hide other users' processes
            return None
        return int(stat[START]) == self.start and stat[STATE] not in DEAD

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is there, and somebody else's
        return True
    return True


def _stat(pid: int) -> list[str] | None:
    """Returns what the kernel says of a process, from its state on; None if it says nothing."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()  # the command may hold anything, brackets included
