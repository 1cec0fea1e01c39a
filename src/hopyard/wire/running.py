"""The service methods that are running, and how to end them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class RunningCalls:
    """Knows the threads that are inside a service method and can interrupt them.

    The threads belong to gRPC, and one that runs Python code while the interpreter ends aborts the
    process. So what is still running when a server has closed must be stopped.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Counts the calling thread as running inside this context."""
        thread = threading.get_ident()
        with self._lock:
            self._threads.add(thread)
        try:
            yield
        finally:
            # waits for an interruption under way: it must not reach the thread's next task
            with self._lock:
                self._threads.discard(thread)

    def interrupt(self) -> int:
        """Raises SystemExit in every running thread, at its next step in Python, and returns how many."""
        with self._lock:
            for thread in self._threads:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(SystemExit)
                )
            return len(self._threads)
