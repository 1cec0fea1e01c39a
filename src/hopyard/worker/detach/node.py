"""A supervisor in a process of its own: it outlives its Spark task, and never its driver."""

from __future__ import annotations

import contextlib
import logging
import os
import select
from typing import TYPE_CHECKING, TypeVar

from hopyard.errors import DriverOutOfReach
from hopyard.protocol.messages import Arrive, Ended, Message, Reply
from hopyard.worker.detach.start import GATHERED, HEARD, Orders
from hopyard.worker.driver_link import Link
from hopyard.worker.lease import CALL_SECONDS
from hopyard.worker.supervisor import Supervisor

if TYPE_CHECKING:
    from hopyard.protocol.outcome import Outcome

LOG = logging.getLogger(__name__)
A = TypeVar("A")


def supervise(orders: Orders, heard: int) -> bool:
    """Runs a node to its end, and tells the driver of it; returns whether the driver was there to be told.

    Args:
        orders: The node.
        heard: A pipe that gets a word once the driver has heard of the node, and another one once all have arrived.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    executor = ProcessWatch(orders.executor)
    with orders.driver.open(call_seconds=CALL_SECONDS, patience=orders.task.lease_seconds) as link:
        node = Supervisor(
            orders.task,
            DetachedLink(link, heard, executor),
            address=orders.host.address,
            gpus=orders.host.gpus,
            incarnation=orders.incarnation,
            is_orphan=executor.is_gone,
        )
        try:
            node.run()
        except DriverOutOfReach as error:
            LOG.error("%s ends: %s", orders.task.node, error)  # noqa: TRY400  the driver has no stack here
            return False
    return True


class ProcessWatch:
    """Tells whether a process is gone that need not be a child of this one; any thread may ask."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._descriptor: int | None = None
        # not Linux, older than 5.3, or gone already: then the process table tells
        with contextlib.suppress(AttributeError, OSError):
            self._descriptor = os.pidfd_open(pid)

    def is_gone(self) -> bool:
        """Returns whether the process has ended."""
        if self._descriptor is not None:
            poll = select.poll()  # one for each call: two threads cannot use the same one at once
            poll.register(self._descriptor, select.POLLIN)
            return bool(poll.poll(0))
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # of somebody else, but there
            return False
        return False


class DetachedLink:
    """A link to the driver that lets the Spark task know how far its node has come.

    The task gets a word when the driver has first heard of the node, and another one when all nodes have arrived,
    or need not arrive any more.
    """

    def __init__(self, link: Link, heard: int, executor: ProcessWatch) -> None:
        self._link = link
        self._heard = heard
        self._unsaid = [HEARD, GATHERED]
        self._executor = executor
        self._is_told = False

    def ask(self, message: Message[A]) -> A:
        """Returns the driver's answer."""
        answer = self._link.ask(message)
        if self._unsaid and isinstance(message, (Arrive, Ended)):
            self._say(HEARD)
            is_gathered = isinstance(answer, Reply) and (answer.members, answer.stop) != (None, None)
            if isinstance(message, Ended) or is_gathered:
                self._say(GATHERED)
        if not self._is_told and self._executor.is_gone():
            self._is_told = True
            LOG.warning("the executor is gone; the driver answers, so the node goes on")
        return answer

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        """Brings what came of the node."""
        self._link.deliver(number, incarnation, outcome)

    def _say(self, word: bytes) -> None:
        """Writes a word that has not been written before."""
        if word not in self._unsaid:
            return
        self._unsaid.remove(word)
        try:
            os.write(self._heard, word)
        except BrokenPipeError:  # Spark has ended the task; what becomes of the node, the driver decides
            LOG.warning("the Spark task did not wait for its node")
        if not self._unsaid:
            os.close(self._heard)
