"""Temporary folders that are removed even when their owner is killed.

A scratch folder is removed when its context ends. Should the owner die before (``kill -9``), the next
owner that opens a scratch folder sweeps it. Who is alive is asked of the kernel: each folder holds a
file that its owner keeps locked, and the kernel drops that lock with the process. A process id would
not do; it may be given out again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import ForeignScratch

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWNER_FILE = ".owner"


@contextlib.contextmanager
def scratch_folder(kind: str, *, base: Path | None = None) -> Iterator[Path]:
    """Gives an empty folder of this process; removes it at the end, and those of dead owners at the start.

    Args:
        kind: First part of the folder's name, for whoever looks into the temporary folder.
        base: Folder that holds all scratch folders of this user; one below the system's temporary
            folder if not given.
    """
    base = base or _base_of_user()
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    if base.stat().st_uid != os.getuid():
        raise ForeignScratch(str(base))
    with contextlib.ExitStack() as owned:
        with file_lock(base / ".lock"):
            sweep(base)
            folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=base))
            owned.callback(_remove, folder)
            owned.enter_context(file_lock(folder / _OWNER_FILE))
        yield folder


def sweep(base: Path) -> None:
    """Removes the scratch folders whose owner is gone; the caller holds the lock of `base`."""
    for folder in base.iterdir():
        if folder.is_dir() and not _is_owned(folder):
            _remove(folder)


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Holds an exclusive lock that other processes (and other opens of the file) wait for."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _base_of_user() -> Path:
    return Path(tempfile.gettempdir()) / f"hopyard-{os.getuid()}"


def _is_owned(folder: Path) -> bool:
    try:
        with (folder / _OWNER_FILE).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _remove(folder: Path) -> None:
    # Processes of a dead owner may still be writing while they go down. What they leave has no owner,
    # and the next sweep takes it.
    shutil.rmtree(folder, ignore_errors=True)
