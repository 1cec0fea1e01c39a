"""Locks on parts of a file that belong to whoever opened it, not to a whole process.

POSIX locks are shared by all threads of a process and are lost when any of its descriptors of the file is
closed. Linux has locks that belong to one open file description (``man 2 fcntl``, F_OFD_SETLK): two
threads exclude each other like two processes, and the kernel drops the lock with the last descriptor,
so also with a process that is killed.
"""

from __future__ import annotations

import fcntl
import struct

# struct flock of 64-bit Linux: type, whence, start, length, process id (0 for these locks)
_FLOCK = "hhqqi4x"
_FROM_START = 0


def lock_range(fd: int, start: int, length: int) -> bool:
    """Locks a range for this open file alone; returns False if a part of it is locked elsewhere."""
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _packed(fcntl.F_WRLCK, start, length))
    except BlockingIOError:
        return False
    return True


def lock_any_range(fd: int, length: int, *, limit: int) -> bool:
    """Locks the first free range of a length below a limit; returns False if none is free."""
    start = 0
    while start + length <= limit:
        if lock_range(fd, start, length):
            return True
        start = max(start, _end_of_conflict(fd, start, length))
    return False


def unlock(fd: int) -> None:
    """Drops all locks of this open file, also if a forked process has inherited it."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _packed(fcntl.F_UNLCK, 0, 0))


def _end_of_conflict(fd: int, start: int, length: int) -> int:
    """Returns where a foreign lock in a range ends, or 0 if it has gone."""
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _packed(fcntl.F_WRLCK, start, length))
    kind, _, conflict_start, conflict_length, _ = struct.unpack(_FLOCK, answer)
    return 0 if kind == fcntl.F_UNLCK else int(conflict_start + conflict_length)


def _packed(kind: int, start: int, length: int) -> bytes:
    return struct.pack(_FLOCK, kind, _FROM_START, start, length, 0)
