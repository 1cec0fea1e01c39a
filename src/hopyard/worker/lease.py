"""A node's lease with its driver: it is renewed all the time, and a node without one ends itself."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from hopyard.codec.records import encode_line
from hopyard.errors import DriverOutOfReach, NotAuthenticated, PeerGone, WireTimeout
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.node_status import Heartbeat
from hopyard.tracking import NodeOutcome

if TYPE_CHECKING:
    from hopyard.wire import Json

LOG = logging.getLogger(__name__)
RETRY_SECONDS = 1.0
CALL_SECONDS = 5.0
ORPHAN_SECONDS = 3.0
SILENCE_MARGIN_SECONDS = 2.0
REGISTER = "register"
HEARTBEAT = "heartbeat"
ENDED = "ended"
LEFT = "left"
LONGEST_TEXT = 20_000
OUT_OF_REACH = (PeerGone, WireTimeout, NotAuthenticated)


class Link(Protocol):
    """The way to the coordinator: a client of the wire, or the coordinator itself beside the driver."""

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Returns the answer to a message."""


class Holder(Protocol):
    """Whose lease it is."""

    def stop(self, reason: str) -> None:
        """Ends the node at once."""

    def release(self, grace_seconds: float) -> None:
        """Lets the node end by itself within some seconds, and ends it then: the run is done."""

    def sign(self) -> Heartbeat:
        """Returns what there is to tell."""


class Lease:
    """Keeps a node in touch with its driver; renewed by a thread while its context is open.

    Args:
        link: The way to the coordinator.
        rank: Whose lease.
        incarnation: What tells this process from another one that was started as the same node.
        seconds: How long the driver may be out of reach.
        holder: Who obeys; it is told again with every renewal.
        retry_seconds: When to call again a driver that did not answer.
        is_orphan: Tells whether there is reason to think that a driver which does not answer is no more, so that the
            node need not wait for the end of its lease.
        on_renew: Called with each renewal, whether or not the driver answers: shows that this process goes on.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        link: Link,
        rank: int,
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
        self._rank = rank
        self._incarnation = incarnation
        self._seconds = seconds
        self._holder = holder
        self._retry_seconds = retry_seconds
        self._is_orphan = is_orphan
        self._on_renew = on_renew
        self._clock = clock
        self._heard = clock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name=f"hopyard-lease-{rank}", daemon=True)

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
        message: dict[str, Json] = {
            "rank": self._rank,
            "incarnation": self._incarnation,
            "address": address,
            "host": host,
        }
        answer = self._introduce(message)
        while not self._heed(answer):
            if answer["members"] is not None:
                self._heard = self._clock()
                return ClusterMap.from_json(_object(answer["members"]))
            if self._over.wait(_seconds(answer["again"])):
                return None
            answer = self._ask(REGISTER, message) or answer
        return None

    def tell(self, record: NodeOutcome) -> None:
        """Tells the driver how the node ended."""
        told = encode_line(_bounded(record)).decode()
        try:
            last = _heartbeat_message(self._holder.sign())
            self._link.call(
                ENDED, {"rank": self._rank, "incarnation": self._incarnation, "record": told, **last}
            )
        except OUT_OF_REACH as error:
            # the outcome still goes to the project; who does not hear it is gone or will see the task end
            LOG.warning("the driver was not told of the end of node %d: %s", self._rank, error)

    def leave(self) -> None:
        """Tells the driver that all is stored which the node leaves."""
        try:
            self._link.call(LEFT, {"rank": self._rank, "incarnation": self._incarnation})
        except OUT_OF_REACH as error:
            LOG.info("the driver was not told that node %d has stored all: %s", self._rank, error)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _introduce(self, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Returns the driver's first answer; one that is busy with a thousand nodes is given time."""
        while True:
            try:
                return self._link.call(REGISTER, message)
            except OUT_OF_REACH as error:
                # a driver that was never in reach is an error to tell at once
                is_slow = isinstance(error, WireTimeout)
                if not is_slow or self._clock() - self._heard > self._seconds:
                    raise DriverOutOfReach(getattr(error, "peer", "its address"), str(error)) from error

    def _renew(self) -> None:
        try:
            self._renew_until_over()
        except Exception as error:
            # the edge of a thread: a node that nobody hears would be taken for lost, for no reason to be seen
            LOG.exception("the lease of node %d could not be renewed", self._rank)
            self._holder.stop(f"its lease could not be renewed ({type(error).__name__}: {error})")

    def _renew_until_over(self) -> None:
        wait = 0.0
        while not self._over.wait(wait):
            self._on_renew()
            beat = {
                "rank": self._rank,
                "incarnation": self._incarnation,
                **_heartbeat_message(self._holder.sign()),
            }
            answer = self._ask(HEARTBEAT, beat)
            if answer is None:
                wait = self._retry_seconds
                continue
            self._heed(answer)
            wait = _seconds(answer["again"])

    def _ask(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json] | None:
        """Returns the driver's answer, or None if it is out of reach; if that lasts, the node is ended."""
        try:
            answer = self._link.call(method, message)
        except OUT_OF_REACH:
            if not self.holds:
                self._over.set()
                why = "its executor is gone, too" if self._is_orphan() else "lease"
                silence = self._clock() - self._heard
                self._holder.stop(f"its driver has been out of reach for {silence:.0f} s ({why})")
            return None
        self._heard = self._clock()
        return answer

    def _heed(self, answer: Mapping[str, Json]) -> bool:
        """Obeys; returns whether there was something to obey."""
        if isinstance(answer["stop"], str):
            self._holder.stop(answer["stop"])
            return True
        if answer["release"] is not None:
            self._holder.release(_seconds(answer["release"]))
            return True
        return False


def longest_silence(lease_seconds: float, call_seconds: float = CALL_SECONDS) -> float:
    """Returns after how many seconds without a renewal the process that holds a lease must be taken for hung.

    A driver that does not answer holds up a renewal for as long as a call may take, which is no sign of that.
    """
    return max(lease_seconds, call_seconds + RETRY_SECONDS) + SILENCE_MARGIN_SECONDS


def parse_heartbeat(message: Mapping[str, Json]) -> Heartbeat:
    """Returns the sign that a heartbeat carries."""
    step = message["step"]
    return Heartbeat(
        step=step if isinstance(step, int) else None,
        metrics={name: _seconds(value) for name, value in _object(message["metrics"]).items()},
        idle_seconds=_seconds(message["idle_seconds"]),
        lines=tuple(str(line) for line in _list(message["lines"])),
        notes={name: str(value) for name, value in _object(message["notes"]).items()},
    )


def _bounded(record: NodeOutcome) -> NodeOutcome:
    """Returns a record that fits into a message; the whole one travels with the node's outcome."""
    message = None if record.message is None else record.message[:LONGEST_TEXT]
    trace = None if record.traceback is None else record.traceback[-LONGEST_TEXT:]
    return replace(record, message=message, traceback=trace)


def _heartbeat_message(sign: Heartbeat) -> dict[str, Any]:
    return {**asdict(sign), "lines": list(sign.lines)}


def _seconds(value: Json) -> float:
    if not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _object(value: Json) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no object")
    return value


def _list(value: Json) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value
