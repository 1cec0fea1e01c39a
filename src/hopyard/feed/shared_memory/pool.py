"""The buffer of a process that feeds: one task after the other lays its rows there."""

from __future__ import annotations

import sys
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hopyard.feed.shared_memory.buffer import SharedBuffer

KEPT_SECONDS = 10.0


@dataclass(slots=True)
class Lent:
    """A buffer in the hands of a task.

    Attributes:
        buffer: The buffer; None: there is nobody to share one with.
        is_settled: Whether nodes have taken all that they were told of: nothing on it is in use for ever.
    """

    buffer: SharedBuffer | None
    is_settled: bool = False


@dataclass(frozen=True, slots=True)
class _Kept:
    """A buffer that waits for the next task."""

    readers: Hashable
    buffer: SharedBuffer
    timer: threading.Timer


class BufferPool:
    """Lends a buffer to each task, and the same one to the next: new memory costs more than what is laid in it.

    Args:
        kept_seconds: How long a buffer is kept that no task asks for.
    """

    def __init__(self, kept_seconds: float = KEPT_SECONDS) -> None:
        self._kept_seconds = kept_seconds
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    @contextmanager
    def lend(self, readers: Hashable, *, is_near: bool) -> Iterator[Lent]:
        """Lends a buffer for as long as its context is open.

        Args:
            readers: Who reads from it. For others it is not used again: these may have gone with something in use.
            is_near: Whether any of them can share memory with this process.
        """
        if not is_near or sys.platform != "linux":
            yield Lent(None)
            return
        buffer = self._take(readers) or SharedBuffer()
        lent = Lent(buffer)
        try:
            yield lent
        finally:
            if not (lent.is_settled and self._keep(readers, buffer)):
                buffer.close()

    def _take(self, readers: Hashable) -> SharedBuffer | None:
        """Returns the buffer that is kept for some readers, if there is one."""
        with self._lock:
            kept, self._kept = self._kept, None
        if kept is None:
            return None
        kept.timer.cancel()
        if kept.readers == readers:
            return kept.buffer
        kept.buffer.close()
        return None

    def _keep(self, readers: Hashable, buffer: SharedBuffer) -> bool:
        """Keeps a buffer, unless there is one already."""
        timer = threading.Timer(self._kept_seconds, self._drop, (buffer,))
        timer.daemon = True
        with self._lock:
            if self._kept is not None:
                return False
            self._kept = _Kept(readers, buffer, timer)
            timer.start()
        return True

    def _drop(self, buffer: SharedBuffer) -> None:
        """Gives the memory back, if the buffer still waits."""
        with self._lock:
            if self._kept is None or self._kept.buffer is not buffer:
                return
            self._kept = None
        buffer.close()
