"""Whether anything but the calling thread could go on in this process."""

from __future__ import annotations

import threading


def is_only_thread() -> bool:
    """Returns whether Python runs no other thread of the user in this process.

    Hopyard's own threads have names that say so. Threads that Python did not start are those of the wire, which bring rows.
    """
    return all(
        thread is threading.current_thread() or _is_of_hopyard(thread) for thread in threading.enumerate()
    )


def _is_of_hopyard(thread: threading.Thread) -> bool:
    return thread.name.startswith("hopyard-") or isinstance(thread, threading._DummyThread)  # noqa: SLF001
