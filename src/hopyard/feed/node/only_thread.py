"""Whether anything but the calling thread could go on in this process."""

from __future__ import annotations

import sys
import threading

from hopyard.frameworks.registry import is_collecting


def is_only_thread() -> bool:
    """Returns whether Python runs no other thread of the user in this process.

    Hopyard's own threads have names that say so. Threads that Python did not start are those of the wire, which bring rows.
    A thread that is within a call which first reads all rows, such as Keras's ``predict(dataset)``, does not go on either.
    """
    frames = sys._current_frames()  # noqa: SLF001  the way to know where other threads are
    return all(
        thread is threading.current_thread()
        or _is_of_hopyard(thread)
        or is_collecting(frames.get(thread.ident or 0))
        for thread in threading.enumerate()
    )


def _is_of_hopyard(thread: threading.Thread) -> bool:
    return thread.name.startswith("hopyard-") or isinstance(thread, threading._DummyThread)  # noqa: SLF001
