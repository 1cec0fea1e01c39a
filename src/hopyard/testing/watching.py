"""Looking on while a run goes on: what a test that breaks something has to know first."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

from hopyard.run.context import NodeContext
from hopyard.store import Project

PAUSE_SECONDS = 0.05
WORD = "the-word"


def sign_in(ctx: NodeContext) -> None:
    """Leaves the id of a node's process in the project; to be called by the node."""
    ctx.project.put(f"signed-in/{ctx.attempt}.{ctx.rank}", str(psutil.Process().pid).encode())


def signed_in(
    project: Project, size: int, *, attempt: int = 0, seconds: float = 60.0
) -> list[psutil.Process]:
    """Returns the processes of all nodes of an attempt, in rank order, once all have called `sign_in`.

    Raises:
        TimeoutError: They have not within so many seconds.
    """
    paths = [f"signed-in/{attempt}.{rank}" for rank in range(size)]
    wait_until(lambda: all(project.exists(path) for path in paths), f"{size} nodes sign in", seconds)
    return [psutil.Process(int(project.read(path))) for path in paths]


def wait_for_the_word(ctx: NodeContext) -> int:
    """Signs in and returns the node's rank once a test has said the word; to be run by nodes."""
    sign_in(ctx)
    wait_until(lambda: ctx.project.exists(WORD), "the test says the word", 120)
    return ctx.rank


def say_the_word(project: Project) -> None:
    """Lets nodes return that wait for the word."""
    project.put(WORD, b"")


def wait_until(holds: Callable[[], bool], what: str, seconds: float) -> None:
    """Returns once something holds.

    Raises:
        TimeoutError: It does not within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain until {what}")
        time.sleep(PAUSE_SECONDS)
