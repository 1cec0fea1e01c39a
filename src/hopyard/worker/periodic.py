"""Keeps a running node's log, metrics and log folder on their way to the project."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Self

LOG = logging.getLogger(__name__)


class Periodic:
    """Something to do now and then, and to go on doing when it failed once.

    A chore that takes long is done less often, so that it never takes more than about a fifth of the
    time. A failure is kept, not raised: a store that is away for a minute must not end a training that
    runs for days. Whoever owns the chore does it a last time at the end, and that time raises.
    """

    def __init__(self, work: Callable[[], object], seconds: float) -> None:
        self.work = work
        self.seconds = seconds
        self.due = time.monotonic() + seconds
        self.failing = False

    def run_if_due(self) -> None:
        """Does the work if its time has come."""
        began = time.monotonic()
        if began < self.due:
            return
        try:
            self.work()
            self.failing = False
        except Exception as error:  # noqa: BLE001  each store has its own exceptions; the last time raises
            if not self.failing:
                LOG.warning("%s; trying again", error)
            self.failing = True
        ended = time.monotonic()
        self.due = ended + max(self.seconds, 4 * (ended - began))


class PeriodicThread:
    """Does chores in a thread while its context is open."""

    def __init__(self, *chores: Periodic) -> None:
        self.chores = chores
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="hopyard-housekeeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _loop(self) -> None:
        while not self._stop.wait(max(0.0, min(chore.due for chore in self.chores) - time.monotonic())):
            for chore in self.chores:
                chore.run_if_due()
