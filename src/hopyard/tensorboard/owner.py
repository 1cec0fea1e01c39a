"""A thread that owns resources, so that they last without anybody keeping a reference."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

TICK_SECONDS = 0.25


class OwnerThread:
    """Holds resources until it is told to release them, they are no longer of use, or the program ends.

    Args:
        resources: Closed by the thread at the end.
        tick: Called several times a second; False ends the holding.
        name: Name of the thread.
    """

    def __init__(self, resources: ExitStack, tick: Callable[[], bool], name: str) -> None:
        self._resources = resources
        self._tick = tick
        self._released = threading.Event()
        # Not a daemon: the interpreter waits for it, and so the resources are closed in order.
        self._thread = threading.Thread(target=self._hold, name=name, daemon=False)
        self._thread.start()

    def release(self) -> None:
        """Closes the resources and returns when they are closed; may be called twice."""
        self._released.set()
        self._thread.join()

    def _hold(self) -> None:
        with self._resources:
            # The main thread is the program: what else runs then is there to serve it.
            while threading.main_thread().is_alive() and not self._released.wait(TICK_SECONDS):
                if not self._tick():
                    return
