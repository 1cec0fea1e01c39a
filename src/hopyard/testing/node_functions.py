"""What the nodes of the backend contract run.

Apart from the suite itself, so that a node's process need not load pytest.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from hopyard.training.context import NodeContext


def square(x: int) -> int:
    """Returns a value that depends on an argument."""
    return x * x


def rank_and_size(ctx: NodeContext) -> tuple[int, int, str]:
    """Returns who the node is."""
    return ctx.rank, ctx.size, ctx.role


def speak() -> None:
    """Writes to both streams."""
    sys.stdout.write("to stdout, ünïcode\n")
    sys.stderr.write("to stderr\n")


def report_metrics(ctx: NodeContext) -> None:
    """Reports a metric over three steps."""
    for step in range(3):
        ctx.report(step, loss=1.0 / (step + 1))


def leave_a_file(ctx: NodeContext) -> None:
    """Writes a file into the log folder, in a folder of its own."""
    folder = Path(ctx.logdir) / "sub"
    folder.mkdir()
    (folder / f"left-by-{ctx.rank}.txt").write_text("kept")


def clobber_the_record(ctx: NodeContext) -> None:
    """Writes a file that has the name of a file of ours."""
    (Path(ctx.logdir) / "run.json").write_text("mine")


def fail_on_rank_1(ctx: NodeContext) -> int:
    """Fails on the second node only."""
    sys.stdout.write("about to divide\n")
    return 1 // (1 - ctx.rank)


def quit_with_code_3() -> None:
    """Leaves by sys.exit."""
    sys.exit(3)


def quit_with_code_0() -> None:
    """Leaves by sys.exit without complaint."""
    sys.exit(0)


def return_a_lock() -> object:
    """Returns what cannot be pickled."""
    return threading.Lock()


def pid() -> int:
    """Returns the process id."""
    return os.getpid()


def kill_itself() -> None:
    """Dies as from the out-of-memory killer."""
    sys.stdout.write("last words\n")
    sys.stdout.flush()
    os.kill(os.getpid(), 9)


def vanish_with_code_0() -> None:
    """Leaves behind Python's back."""
    os._exit(0)


def fail_while_the_chief_waits(ctx: NodeContext) -> None:
    """Fails on the second node once the chief is there, which then waits for ever."""
    sign = "chief-is-there"
    if ctx.rank == 0:
        ctx.project.put(sign, b"")
        threading.Event().wait()
    deadline = time.monotonic() + 60
    while not ctx.project.exists(sign) and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    raise ValueError("no luck")
