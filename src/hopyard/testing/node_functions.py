"""What the nodes of the backend contract run.

Apart from the suite itself, so that a node's process need not load pytest.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from hopyard.run.context import NodeContext


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


def know_the_cluster(ctx: NodeContext) -> dict[str, Any]:
    """Returns what the node knows of the others, and what TensorFlow is told."""
    return {
        "role": (ctx.role, ctx.task_index, ctx.num_workers),
        "cluster": {role: list(addresses) for role, addresses in ctx.cluster.items()},
        "tf_config": json.loads(os.environ["TF_CONFIG"]),
    }


def serve_for_ever(ctx: NodeContext) -> dict[str, Any] | None:
    """Knows the cluster, as chief; a parameter server waits for an end that it does not see coming."""
    if ctx.role == "chief":
        return know_the_cluster(ctx)
    threading.Event().wait()
    return None


def evaluate_until_the_training_is_done(ctx: NodeContext) -> str:
    """Ends by itself when it is told that the training is done."""
    if ctx.role != "evaluator":
        return "trained"
    deadline = time.monotonic() + 60
    while not ctx.should_stop() and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    return "evaluated" if ctx.should_stop() else "waited in vain"


def fail_until_there_is_a_checkpoint(ctx: NodeContext) -> tuple[int, str]:
    """Saves something and fails; finds it and goes on when it is started again."""
    saved = Path(ctx.checkpoint_dir) / "step"
    sys.stdout.write(f"attempt {ctx.attempt} says something\n")
    if not saved.exists():
        saved.write_text("step 7")
        raise ValueError("no luck at first")
    return ctx.attempt, saved.read_text()


def wait_for_ever(ctx: NodeContext) -> None:
    """Says nothing and never ends by itself."""
    ctx.project.put(f"waiting-{ctx.rank}", b"")
    threading.Event().wait()


def take_its_port_alone(ctx: NodeContext) -> str:
    """Listens at its own port with a server that needs it for itself."""
    host, _, port = ctx.cluster[ctx.role][ctx.task_index].rpartition(":")
    ctx.release_port()
    ctx.release_port()
    with socket.socket() as server:
        server.bind((host, int(port)))
        server.listen()
        return "listened"
