"""Waiting for processes that are not one's children to end."""

from __future__ import annotations

import time
from collections.abc import Iterable

import psutil

_LOOK_AGAIN_SECONDS = 0.01


def still_running(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Returns those that still run after at most that many seconds; returns at once when none does.

    A process that has ended counts as gone whether or not its parent has taken note of it: orphans are
    left to init, which takes its time.
    """
    deadline = time.monotonic() + seconds
    while (running := [process for process in processes if _runs(process)]) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return running


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
