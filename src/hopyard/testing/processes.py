"""Processes that a test has caused: finding them, and waiting for their end."""

from __future__ import annotations

import time
from collections.abc import Iterable

import psutil

_LOOK_AGAIN_SECONDS = 0.01


def command_line(process: psutil.Process) -> str:
    """Returns the command of a process; empty if it has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # a zombie is one, for psutil
        return ""


def descendants(pid: int, words: str = "") -> list[psutil.Process]:
    """Returns the running processes that descend from one and have these words in their command."""
    children = psutil.Process(pid).children(recursive=True)
    return [child for child in children if _runs(child) and words in command_line(child)]


def with_variable(name: str, value: str) -> list[psutil.Process]:
    """Returns the running processes that were started with an environment variable of this value."""
    return [process for process in psutil.process_iter() if _environment(process).get(name) == value]


def still_running(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Returns those that still run after at most that many seconds; returns at once when none does.

    A process that has ended counts as gone whether or not its parent has taken note of it: orphans are
    left to init, which takes its time.
    """
    deadline = time.monotonic() + seconds
    while (running := [process for process in processes if _runs(process)]) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return running


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # ended meanwhile, or somebody else's
        return {}


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
