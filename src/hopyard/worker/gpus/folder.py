"""The folder in which the GPU leases of a host are: shared by all users, changed by one process at a time."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hopyard.errors import LeaseFolderUnusable

LOOK_AGAIN_SECONDS = 0.05
_EVERYBODY = 0o1777  # all users may add files, each may remove only their own
_REMOVED = "it was removed meanwhile"


@contextmanager
def locked_folder(folder: Path, *, until: float) -> Iterator[int]:
    """Gives a descriptor of the folder, made if missing, while no other process or thread has it locked.

    Args:
        folder: Where the leases are.
        until: The latest moment at which to try again, on the monotonic clock.

    Raises:
        LeaseFolderUnusable: It could not be locked until then, or cannot be used at all.
    """
    while True:
        with ExitStack() as opened:
            fd = _open(folder, opened)
            obstacle = _REMOVED if fd is None else _lock(fd, folder)
            if fd is not None and not obstacle:
                yield fd
                return
        if time.monotonic() >= until:
            raise LeaseFolderUnusable(str(folder), obstacle)
        pause(until)


def pause(until: float) -> None:
    """Waits a moment before the next look: a lock that is waited for in the kernel has no deadline."""
    threading.Event().wait(min(LOOK_AGAIN_SECONDS, max(0.0, until - time.monotonic())))


def _open(folder: Path, opened: ExitStack) -> int | None:
    """Opens the folder, which is made if missing; returns None if somebody has removed it at once."""
    try:
        _make(folder)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LeaseFolderUnusable(str(folder), str(error.strerror)) from error
    opened.callback(os.close, fd)
    return fd


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    folder.chmod(_EVERYBODY)  # whatever the umask


def _lock(fd: int, folder: Path) -> str:
    """Locks the open folder; returns what keeps it from being used now, or nothing."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "another process has it locked"
    try:
        if not os.path.samestat(os.fstat(fd), folder.stat(follow_symlinks=False)):
            return _REMOVED
    except FileNotFoundError:
        return _REMOVED
    # Another user who just made the folder opens it to all a moment later.
    return "" if os.access(folder, os.W_OK | os.X_OK) else "this user may not write to it"
