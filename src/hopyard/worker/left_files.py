"""Files that a function left where nobody keeps them: beside its log folder, or in the working folder of an executor."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self

# Each is set for the executors of one kind of cluster (standalone and local-cluster, YARN, Kubernetes), whose
# working folder goes with them. Elsewhere it is a folder of the user, where files do not get lost.
EXECUTOR_VARIABLES = ("SPARK_EXECUTOR_DIRS", "LOCAL_DIRS", "SPARK_EXECUTOR_ID")
OWN_FILES = ("stdout", "stderr", "__pycache__")
MOST_ENTRIES = 2000
MOST_TOLD = 10

_Entries = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingFolder:
    """The working folder of an executor at some time; elsewhere it is empty and stays so.

    Attributes:
        path: Where it is; None if it does not go with an executor.
        entries: What is in it, each with size and time of change.
    """

    path: str | None = None
    entries: _Entries = field(default_factory=dict)

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Returns that of this process, as it is now."""
        if not any(name in environ for name in EXECUTOR_VARIABLES):
            return cls()
        try:
            path = os.getcwd()
        except FileNotFoundError:
            return cls()
        return cls(path=path, entries=dict(_entries(path)))

    def told(self) -> str:
        """Returns, in words, what is new or has changed since; nothing if nothing has."""
        if self.path is None or len(self.entries) == MOST_ENTRIES:
            return ""
        try:
            now = dict(_entries(self.path))
        except FileNotFoundError:  # with all that was in it
            return ""
        names = sorted(name for name, state in now.items() if self.entries.get(name) != state)
        if not names:
            return ""
        rest = len(names) - MOST_TOLD
        listed = ", ".join(names[:MOST_TOLD]) + (f" and {rest} more" if rest > 0 else "")
        return (
            f"left in the working folder {self.path} on {socket.gethostname()}, which goes with the executor: "
            f"{listed}. Save to ctx.logdir what is to be kept with the run."
        )


def gather(logdir: Path) -> list[tuple[str, str]]:
    """Moves what lies beside a log folder into it, if its name begins as if a slash were missing.

    ``open(ctx.logdir + "model.pt", "wb")`` makes such a file.

    Returns:
        The name of each as it was, and its name in the log folder.
    """
    moved = []
    for path in sorted(logdir.parent.glob(f"{logdir.name}?*")):
        name = path.name.removeprefix(logdir.name)
        if os.path.lexists(logdir / name):
            name = path.name
        shutil.move(path, logdir / name)
        moved.append((path.name, name))
    return moved


def _entries(path: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields name, size and time of some entries; of a folder, which changes with all that is in it, only the name."""
    with os.scandir(path) as found:
        for entry in islice(found, MOST_ENTRIES):
            if entry.name.startswith(".") or entry.name in OWN_FILES:
                continue
            try:
                state = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone meanwhile
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            yield entry.name, (0, 0) if is_folder else (state.st_size, state.st_mtime_ns)
