"""Files that a function left where nobody keeps them: beside its log folder, or in the working folder of an executor."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self

# Each is set for the executors of one kind of cluster (standalone and local-cluster, YARN, Kubernetes), whose
# working folder goes with them. Elsewhere it is a folder of the user, where files do not get lost.
EXECUTOR_VARIABLES = ("SPARK_EXECUTOR_DIRS", "LOCAL_DIRS", "SPARK_EXECUTOR_ID")
OWN_FILES = ("stdout", "stderr")
CACHE = "__pycache__"
KEPT_IN = "working_folder"
MOST_ENTRIES = 20_000
MOST_BYTES = 1 << 30
MOST_TOLD = 10

_States = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftFiles:
    """What has become of the files that a function left, in words; empty where there are none.

    Attributes:
        kept: Those that are kept with the run.
        lost: Those that are not, where they are, and why.
    """

    kept: str = ""
    lost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingFolder:
    """The working folder of an executor at some time; elsewhere it is empty and stays so.

    Several nodes may share it, so it belongs to none of them: what is new is copied, and stays where it is.

    Attributes:
        path: Where it is; None if it does not go with an executor.
        files: The files in it and below, each with size and time of change.
    """

    path: str | None = None
    files: _States = field(default_factory=dict)

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Returns that of this process, as it is now."""
        if not any(name in environ for name in EXECUTOR_VARIABLES):
            return cls()
        try:
            path = os.getcwd()
        except FileNotFoundError:
            return cls()
        return cls(path=path, files=_states(path))

    def keep(self, logdir: Path, most_bytes: int = MOST_BYTES) -> LeftFiles:
        """Copies what is new or has changed since into a log folder, below a folder of its own.

        Args:
            logdir: The log folder, which is stored with the run.
            most_bytes: How much is copied in all; what does not fit is left out.
        """
        if self.path is None:
            return LeftFiles()
        now = _states(self.path)
        left = sorted(name for name, state in now.items() if self.files.get(name) != state)
        where = f"{self.path} on {socket.gethostname()}, which goes with the executor"
        if len(now) >= MOST_ENTRIES:
            return LeftFiles(
                lost=f"{where}, has {MOST_ENTRIES} files or more, too many to tell which are new"
            )
        room, kept, lost = most_bytes, [], []
        for name in left:
            size = now[name][0]
            if size > room:
                lost.append(f"{name} ({size / 1e6:,.1f} MB, and {most_bytes / 1e6:,.1f} MB are kept in all)")
                continue
            try:
                _copy(Path(self.path, name), logdir / KEPT_IN / name)
            except FileNotFoundError:  # gone meanwhile
                continue
            except OSError as error:
                lost.append(f"{name} ({error.strerror or error})")
            else:
                room -= size
                kept.append(name.partition("/")[0])
        return LeftFiles(
            kept=_listed(list(dict.fromkeys(kept))), lost=f"{_listed(lost)} in {where}" if lost else ""
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


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, target)  # no link: another node may go on writing it


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - MOST_TOLD
    return ", ".join(names[:MOST_TOLD]) + (f" and {rest} more" if rest > 0 else "")


def _states(folder: str) -> dict[str, tuple[int, int]]:
    """Returns size and time of change of the files below a folder, by their paths in it; of a great many, some."""
    return dict(islice(_files(folder, ""), MOST_ENTRIES))


def _files(folder: str, prefix: str) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:  # gone, with all that was in it
        return
    for entry in entries:
        if entry.name == CACHE or (not prefix and (entry.name.startswith(".") or entry.name in OWN_FILES)):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            try:
                state = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone meanwhile
                continue
            yield f"{prefix}{entry.name}", (state.st_size, state.st_mtime_ns)
