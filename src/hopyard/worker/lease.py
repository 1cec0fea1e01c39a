"""A worker's lease with its driver: it is renewed all the time, and a worker without one ends itself."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, Self, TypeVar

from hopyard.errors import DriverOutOfReach, WireTimeout
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import Arrive, Beat, Ended, Left, Message, Reply
from hopyard.protocol.node_status import Heartbeat
from hopyard.tracking import NodeOutcome
from hopyard.worker.driver_link import OUT_OF_REACH, RETRY_SECONDS, Link

LOG = logging.getLogger(__name__)
CALL_SECONDS = 5.0
ORPHAN_SECONDS = 3.0
SILENCE_MARGIN_SECONDS = 2.0
LONGEST_TEXT = 20_000
A = TypeVar("A")


class Holder(Protocol):
    """Whose lease it is."""

    def stop(self, reason: str) -> None:
        """Ends the node at once."""

    def release(self, grace_seconds: float) -> None:
        """Lets the node end by itself within some seconds, and ends it then: the run is done."""

    def sign(self) -> Heartbeat:
        """Returns what there is to tell."""


class Lease:
    """Keeps a worker in touch with its driver; renewed by a thread while its context is open.

    Args:
        link: The way to the driver.
        number: Whose lease: the rank of a node, the number of a slot.
        incarnation: What tells this process from another one that was started as the same worker.
        seconds: How long the driver may be out of reach.
        holder: Who obeys; it is told again with every renewal.
        retry_seconds: When to call again a driver that did not answer.
        is_orphan: Tells whether there is reason to think that a driver which does not answer is no more, so that the
            worker need not wait for the end of its lease.
        on_renew: Called with each renewal, whether or not the driver answers: shows that this process goes on.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        link: Link,
        number: int,
        *,
        incarnation: str,
        seconds: float,
        holder: Holder,
        retry_seconds: float = RETRY_SECONDS,
        is_orphan: Callable[[], bool] = lambda: False,
        on_renew: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._number = number
        self._incarnation = incarnation
        self._seconds = seconds
        self._holder = holder
        self._retry_seconds = retry_seconds
        self._is_orphan = is_orphan
        self._on_renew = on_renew
        self._clock = clock
        self._heard = clock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name=f"hopyard-lease-{number}", daemon=True)

    @property
    def holds(self) -> bool:
        """Whether a driver that does not answer may still come back."""
        longest = min(ORPHAN_SECONDS, self._seconds) if self._is_orphan() else self._seconds
        return self._clock() - self._heard <= longest

    def join(self, address: str, host: str) -> ClusterMap | None:
        """Registers the node and waits for all others; returns the cluster map, or None if told to stop.

        Raises:
            DriverOutOfReach: The driver cannot be reached.
        """
        message = Arrive(number=self._number, incarnation=self._incarnation, address=address, host=host)
        answer = self._introduce(message)
        while not self._heed(answer):
            if answer.members is not None:
                self._heard = self._clock()
                return answer.members
            if self._over.wait(answer.again):
                return None
            answer = self._ask(message) or answer
        return None

    def tell(self, record: NodeOutcome) -> None:
        """Tells the driver how the node ended."""
        message = Ended(
            number=self._number,
            incarnation=self._incarnation,
            record=_bounded(record),
            heartbeat=self._holder.sign(),
        )
        try:
            self._link.ask(message)
        except OUT_OF_REACH as error:
            # the outcome still goes to the project; who does not hear it is gone or will see the task end
            LOG.warning("the driver was not told of the end of node %d: %s", self._number, error)

    def leave(self) -> None:
        """Tells the driver that all is stored which the node leaves."""
        try:
            self._link.ask(Left(number=self._number, incarnation=self._incarnation))
        except OUT_OF_REACH as error:
            LOG.info("the driver was not told that worker %d has left: %s", self._number, error)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _introduce(self, message: Arrive) -> Reply:
        """Returns the driver's first answer; one that is busy with a thousand nodes is given time."""
        while True:
            try:
                return self._link.ask(message)
            except OUT_OF_REACH as error:
                # a driver that was never in reach is an error to tell at once
                is_slow = isinstance(error, WireTimeout)
                if not is_slow or self._clock() - self._heard > self._seconds:
                    raise DriverOutOfReach(error.peer, str(error)) from error

    def _renew(self) -> None:
        try:
            self._renew_until_over()
        except Exception as error:
            # the edge of a thread: a worker that nobody hears would be taken for lost, for no reason to be seen
            LOG.exception("the lease of worker %d could not be renewed", self._number)
            self._holder.stop(f"its lease could not be renewed ({type(error).__name__}: {error})")

    def _renew_until_over(self) -> None:
        wait = 0.0
        while not self._over.wait(wait):
            self._on_renew()
            answer = self._ask(
                Beat(number=self._number, incarnation=self._incarnation, heartbeat=self._holder.sign())
            )
            if answer is None:
                wait = self._retry_seconds
                continue
            self._heed(answer)
            wait = answer.again

    def _ask(self, message: Message[A]) -> A | None:
        """Returns the driver's answer, or None if it is out of reach; if that lasts, the node is ended."""
        try:
            answer = self._link.ask(message)
        except OUT_OF_REACH:
            if not self.holds:
                self._over.set()
                why = "its executor is gone, too" if self._is_orphan() else "lease"
                silence = self._clock() - self._heard
                self._holder.stop(f"its driver has been out of reach for {silence:.0f} s ({why})")
            return None
        self._heard = self._clock()
        return answer

    def _heed(self, answer: Reply) -> bool:
        """Obeys; returns whether there was something to obey."""
        if answer.stop is not None:
            self._holder.stop(answer.stop)
            return True
        if answer.release is not None:
            self._holder.release(answer.release)
            return True
        return False


def longest_silence(lease_seconds: float, call_seconds: float = CALL_SECONDS) -> float:
    """Returns after how many seconds without a renewal the process that holds a lease must be taken for hung.

    A driver that does not answer holds up a renewal for as long as a call may take, which is no sign of that.
    """
    return max(lease_seconds, call_seconds + RETRY_SECONDS) + SILENCE_MARGIN_SECONDS


def _bounded(record: NodeOutcome) -> NodeOutcome:
    """Returns a record that fits into a message; the whole one travels with the node's outcome."""
    message = None if record.message is None else record.message[:LONGEST_TEXT]
    trace = None if record.traceback is None else record.traceback[-LONGEST_TEXT:]
    return replace(record, message=message, traceback=trace)
