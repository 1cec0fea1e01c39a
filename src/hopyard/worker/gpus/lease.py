"""Leases on the GPUs of a host: no two nodes take the same one, whoever starts them.

A leased GPU has an empty file in a folder that all users share, and each lease is a lock on a part of it:
on all of it for a GPU of one's own, on less for a share. The kernel drops the lock with the process that
holds it, so a killed holder frees its GPU at once. The folder is locked while leases are taken and while files are
removed: a claim of several GPUs gets all of them or none, and nobody locks a file that is just removed.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hopyard.errors import LeaseFolderUnusable, NoFreeGpu
from hopyard.worker.gpus.folder import locked_folder, pause
from hopyard.worker.gpus.inventory import Gpu
from hopyard.worker.gpus.lock import lock_any_range, lock_range, unlock

LOG = logging.getLogger(__name__)
SUFFIX = ".lease"
WHOLE = 1_000_000  # bytes of a file's lock that stand for all of a GPU
FOLDER_SECONDS = 5.0
_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def lease_gpus(
    gpus: Sequence[Gpu], count: int, *, fraction: float = 1.0, folder: Path, wait_seconds: float
) -> Iterator[tuple[Gpu, ...]]:
    """Gives GPUs that no other lease on this host covers, until the context ends.

    Args:
        gpus: What to choose from; the first free ones are taken.
        count: How many to take.
        fraction: Share of each to take. The shares of a GPU never sum up to more than 1.
        folder: Where the leases of this host are, on a local disk. It is made if missing, and removed
            with the last lease.
        wait_seconds: How long to wait for leases of others to end.

    Raises:
        NoFreeGpu: Too few are free after that time.
        LeaseFolderUnusable: Leases cannot be taken in the folder.
    """
    # Rounded down: three thirds fit. A millionth of a GPU is lost to nobody.
    length = max(1, int(fraction * WHOLE))
    deadline = time.monotonic() + wait_seconds
    with ExitStack() as leases:
        leases.callback(_tidy, folder)
        while not (taken := _take(gpus, count, length, folder, leases)):
            if time.monotonic() >= deadline:
                raise NoFreeGpu(_wanted(count, fraction), len(gpus), wait_seconds)
            pause(deadline)
        yield taken


def _take(gpus: Sequence[Gpu], count: int, length: int, folder: Path, leases: ExitStack) -> tuple[Gpu, ...]:
    """Returns as many GPUs as asked for, whose leases end with `leases`, or none if fewer are free now."""
    taken: list[Gpu] = []
    with _locked(folder) as folder_fd, ExitStack() as found:
        for gpu in gpus:
            if _lock(_name(gpu), length, folder_fd, found):
                taken.append(gpu)
            if len(taken) == count:
                leases.push(found.pop_all())
                return tuple(taken)
    return ()


def _lock(name: str, length: int, folder_fd: int, leases: ExitStack) -> bool:
    """Locks a share of a GPU until `leases` end; returns False if too little of it is free."""
    with ExitStack() as opened:
        fd = _open(name, folder_fd)
        opened.callback(_end, fd)
        # Programs that clean up a temporary folder, such as systemd-tmpfiles, spare a file with a lock of
        # this kind, however old it is. If it cannot be had, such a program is just looking at the file.
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if not lock_any_range(fd, length, limit=WHOLE):
            return False
        leases.push(opened.pop_all())
        return True


def _open(name: str, folder_fd: int) -> int:
    """Opens a GPU's file, which all users may lock."""
    try:
        # Without O_CREAT: Linux may refuse it for a file of another user in a folder that all may write to.
        return os.open(name, _FLAGS, dir_fd=folder_fd)
    except FileNotFoundError:
        fd = os.open(name, _FLAGS | os.O_CREAT | os.O_EXCL, dir_fd=folder_fd)
        os.fchmod(fd, 0o666)  # whatever the umask
        return fd


def _end(fd: int) -> None:
    # Closing alone would not do: a process that was forked meanwhile has the file open, too.
    unlock(fd)
    os.close(fd)


def _tidy(folder: Path) -> None:
    """Removes the files of GPUs without a lease, and the folder with the last of them."""
    if not folder.is_dir():
        return
    try:
        with _locked(folder) as folder_fd:
            for name in os.listdir(folder_fd):
                if name.endswith(SUFFIX):
                    _remove_unused(name, folder_fd)
            # Leases of others are in it, or it belongs to another user, whose next lease removes it.
            with suppress(OSError):
                folder.rmdir()
    except LeaseFolderUnusable as error:
        LOG.warning("files of GPU leases that have ended are left for the next lease to remove: %s", error)


def _remove_unused(name: str, folder_fd: int) -> None:
    """Removes a file on which there is no lock."""
    # A file that another user made may have to stay; being unlocked, it does not keep anybody out.
    with suppress(PermissionError), ExitStack() as opened:
        fd = os.open(name, _FLAGS, dir_fd=folder_fd)
        opened.callback(os.close, fd)
        if lock_range(fd, 0, WHOLE):
            os.unlink(name, dir_fd=folder_fd)


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Locks the folder of leases; what does not work there becomes one error that names the folder."""
    try:
        with locked_folder(folder, until=time.monotonic() + FOLDER_SECONDS) as folder_fd:
            yield folder_fd
    except PermissionError as error:
        raise LeaseFolderUnusable(str(folder), f"{error.filename}: {error.strerror}") from error


def _name(gpu: Gpu) -> str:
    return gpu.uuid + SUFFIX


def _wanted(count: int, fraction: float) -> str:
    if fraction < 1:
        return f"{fraction:g} of a GPU"
    return "1 GPU" if count == 1 else f"{count} GPUs"
