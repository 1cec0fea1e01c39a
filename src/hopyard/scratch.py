"""Temporary folders that are removed even when their owner is killed.

A scratch folder is removed when its context ends. Should the owner die before (``kill -9``), the next
owner that opens a scratch folder sweeps it. Who is alive is asked of the kernel: each folder holds a
file that its owner keeps locked, and the kernel drops that lock with the process. A process id would
not do; it may be given out again.

The same file marks a folder as ours. What has no such mark is never removed, and links are not followed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import ForeignScratch

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWNER_FILE = ".owner"
_PRIVATE = 0o700


@contextlib.contextmanager
def scratch_folder(kind: str, *, base: Path | None = None) -> Iterator[Path]:
    """Gives an empty folder of this process; removes it at the end, and those of dead owners at the start.

    Args:
        kind: First part of the folder's name, for whoever looks into the temporary folder.
        base: Folder that holds all scratch folders of this user; one below the system's temporary
            folder if not given.

    Raises:
        ForeignScratch: What is at the place of that folder is a link, or not a folder of this user alone.
    """
    base = base or _base_of_user()
    _make_private(base)
    with contextlib.ExitStack() as owned:
        with file_lock(base / ".lock"):
            sweep(base)
            folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=base))
            owned.callback(_remove, folder)
            owned.enter_context(file_lock(folder / _OWNER_FILE))
        yield folder


def sweep(base: Path) -> None:
    """Removes the scratch folders whose owner is gone; the caller holds the lock of `base`."""
    with os.scandir(base) as entries:
        folders = [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        if _is_abandoned(folder):
            _remove(folder)


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Holds an exclusive lock that other processes (and other opens of the file) wait for."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _base_of_user() -> Path:
    return Path(tempfile.gettempdir()) / f"hopyard-{os.getuid()}"


def _make_private(base: Path) -> None:
    """Makes sure that a folder is there which nobody but this user can look into or change."""
    with contextlib.suppress(FileExistsError):  # also where a file is, or a link to nowhere
        base.mkdir(mode=_PRIVATE, parents=True)
    found = base.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ForeignScratch(str(base), f"is a link to {os.readlink(base)}")
    if not stat.S_ISDIR(found.st_mode):
        raise ForeignScratch(str(base), "is not a folder")
    if found.st_uid != os.getuid():
        raise ForeignScratch(str(base), "belongs to another user")
    if (mode := found.st_mode & 0o777) != _PRIVATE:
        raise ForeignScratch(str(base), f"has mode {mode:04o} instead of {_PRIVATE:04o}")


def _is_abandoned(folder: Path) -> bool:
    """Tells whether a folder is marked as a scratch folder and its owner is gone."""
    try:
        mark = os.open(folder / _OWNER_FILE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # no mark, or something else that we did not put there
        return False
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(mark)
    return True


def _remove(folder: Path) -> None:
    # Processes of a dead owner may still be writing while they go down. What they leave keeps its mark, and
    # the next sweep takes it. So the mark is removed last; should something be written even then, it is put back.
    with contextlib.suppress(OSError):  # the JVM of an embedded Spark, say, was faster
        for inner in [path for path in folder.iterdir() if path.name != _OWNER_FILE]:
            _remove_inner(inner)
        if [path.name for path in folder.iterdir()] == [_OWNER_FILE]:
            shutil.rmtree(folder, ignore_errors=True)
            (folder / _OWNER_FILE).touch()


def _remove_inner(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
