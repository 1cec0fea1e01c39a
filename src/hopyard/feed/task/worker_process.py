"""How a Python process of Spark is set up that feeds nodes: for many pieces of about the same size."""

from __future__ import annotations

import ctypes
import functools
import gc
from typing import Final

from hopyard.feed.shared_memory.pool import BufferPool

# of <malloc.h>
M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3
KEPT_BYTES = 64 << 20
MAPPED_BYTES = 16 << 20


def prepare_process() -> None:
    """Spares the process work that it would do for every piece or task; may be called again."""
    # Spark's Python looks for garbage after every task: a tenth of a second, if it looks at all that was imported
    gc.freeze()
    _keep_memory()


@functools.cache
def process_buffers() -> BufferPool:
    """Returns what this process has for all its tasks, which know nothing of each other."""
    return BufferPool()


def _keep_memory() -> None:
    """Keeps what a piece took for the next one.

    The C library gives it back to the system otherwise, which clears every page of it before it gives it out again.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc has it, others do without
        mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
