"""How a node leaves its Spark task: the task starts a supervisor in a session of its own, and ends soon.

The supervisor is no child of Spark's Python worker: nothing that ends workers, or their executor, ends it. What keeps
it from outliving its driver is its lease. The task stays until all nodes have arrived: if it did not, another node could
be given the same slot, and the same GPU.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from typing import IO, Self

import cloudpickle

from hopyard.errors import SupervisorNotStarted
from hopyard.worker.lease import longest_silence
from hopyard.worker.task import NodeTask, search_path

COMMAND = (sys.executable, "-P", "-m", "hopyard.worker.detach.main")
HEARD = b"heard"
GATHERED = b"gathered"
LAST_LINES = 30
LOG_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a supervisor that leaves its task takes along.

    Attributes:
        task: The node.
        address: At which the other nodes reach this host.
        gpus: The GPUs that Spark gave to the task; None where Spark gives none.
        incarnation: What tells this start of the node from another one.
        executor: The process that the task belongs to; it ends with the executor.
    """

    task: NodeTask
    address: str
    gpus: tuple[str, ...] | None = None
    incarnation: str
    executor: int

    @classmethod
    def read(cls, file: IO[bytes]) -> Self:
        """Returns the orders in a file that `depart` wrote."""
        orders = cloudpickle.load(file)
        assert isinstance(orders, cls)
        return orders


def depart(orders: Orders, seconds: float, command: Sequence[str] = COMMAND) -> None:
    """Starts a supervisor and returns once all nodes of its run have arrived, or need not arrive any more.

    Args:
        orders: What it is to do. They hold a secret, so they travel in a file without a name.
        seconds: How long it may take until the driver has heard of it. How long it then waits for other nodes is
            the driver's to decide.
        command: The main program, without its arguments.

    Raises:
        SupervisorNotStarted: The driver has not heard of it. No process is left.
    """
    with ExitStack() as resources:
        given = resources.enter_context(tempfile.TemporaryFile())
        log = resources.enter_context(tempfile.TemporaryFile())
        cloudpickle.dump(orders, given)
        given.seek(0)
        read, write = os.pipe()
        heard = resources.enter_context(FileIO(read, "rb"))
        with FileIO(write, "wb"):
            starter = subprocess.Popen(
                [*command, str(write), str(longest_silence(orders.task.lease_seconds))],
                stdin=given,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(search_path())},
                pass_fds=[write],
                start_new_session=True,
            )
        word = _first_word(heard, seconds)
        if word is None:
            # the pipe is open, so some process of the group is there, and its id is nobody else's
            with suppress(ProcessLookupError):  # it ends at this very moment
                os.killpg(starter.pid, signal.SIGKILL)
        starter.wait()
        if word != HEARD:
            waited = f"the driver did not hear of it within {seconds:g} s (half of start_timeout)"
            raise SupervisorNotStarted("it ended" if word is not None else waited, last_lines(log.fileno()))
        heard.read(len(GATHERED))


def last_lines(log: int) -> tuple[str, ...]:
    """Returns the end of what was written to a file, without moving its position, which others share."""
    size = os.fstat(log).st_size
    start = max(0, size - LOG_BYTES)
    return tuple(os.pread(log, size - start, start).decode(errors="replace").splitlines()[-LAST_LINES:])


def _first_word(heard: FileIO, seconds: float) -> bytes | None:
    """Returns what a pipe holds, nothing if it was closed without a word, or None after some seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(heard, selectors.EVENT_READ)
        return heard.read(len(HEARD)) if selector.select(seconds) else None
