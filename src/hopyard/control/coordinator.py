"""The driver's end of the wire: hears the nodes of a run and tells them what to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hopyard.codec.records import decode
from hopyard.control.rendezvous import Rendezvous, Reply
from hopyard.errors import UnknownMethod
from hopyard.protocol.node_status import Heartbeat, NodeStatus
from hopyard.protocol.outcome import Outcome
from hopyard.tracking import NodeOutcome
from hopyard.worker.lease import ENDED, HEARTBEAT, LEFT, REGISTER, parse_heartbeat

if TYPE_CHECKING:
    from hopyard.wire import Json

Listener = Callable[[int, tuple[str, ...]], None]


class Coordinator:
    """A rendezvous that threads may share, and that speaks in messages; serve it on the wire or call it directly.

    Args:
        rendezvous: What is known of the run.
        on_lines: Receives the rank and the output of a node where nodes send it.
        on_left: Called when a node has ended and stored what it leaves.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        rendezvous: Rendezvous,
        *,
        on_lines: Listener | None = None,
        on_left: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rendezvous = rendezvous
        self._on_lines = on_lines
        self._on_left = on_left
        self._clock = clock
        self._lock = threading.Lock()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a node."""
        rank = message.get("rank")
        if not isinstance(rank, int):
            raise TypeError(f"rank={rank!r} is no number of a node")
        if method == HEARTBEAT:
            return self._beat(rank, message)
        if method == REGISTER:
            with self._lock:
                reply = self._rendezvous.register(
                    rank,
                    life=str(message["life"]),
                    address=str(message["address"]),
                    host=str(message["host"]),
                    now=self._clock(),
                )
            return _answer(reply)
        if method == ENDED:
            record = decode(NodeOutcome, str(message["record"]).encode(), f"the end of node {rank}")
            sign = parse_heartbeat(message)
            with self._lock:
                self._rendezvous.end(rank, record, sign, life=str(message["life"]), now=self._clock())
            self._show(rank, sign)
            return {}
        if method == LEFT:
            with self._lock:
                self._rendezvous.leave(rank, life=str(message["life"]))
            self._on_left()
            return {}
        raise UnknownMethod(method)

    def deliver(self, rank: int, life: str, outcome: Outcome) -> None:
        """Takes what came of a node."""
        with self._lock:
            self._rendezvous.deliver(rank, outcome, life=life, now=self._clock())

    def stop(self, reason: str) -> None:
        """Tells all nodes to stop, with their next call."""
        with self._lock:
            self._rendezvous.stop(reason)

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        with self._lock:
            self._rendezvous.grant(grace_seconds)

    def suspect(self) -> None:
        """Takes note that Spark lost a task of the run."""
        with self._lock:
            self._rendezvous.suspect()

    def tick(self) -> bool:
        """Looks at the clock; returns whether nothing more is to be expected from the nodes."""
        with self._lock:
            self._rendezvous.tick(self._clock())
            return self._rendezvous.is_over

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        with self._lock:
            return self._rendezvous.status(self._clock())

    @property
    def present(self) -> int:
        """How many nodes are there to be told something."""
        with self._lock:
            return self._rendezvous.present

    @property
    def is_settled(self) -> bool:
        """Whether all nodes have ended and stored what they leave."""
        with self._lock:
            return self._rendezvous.is_settled

    def _beat(self, rank: int, message: Mapping[str, Json]) -> Mapping[str, Json]:
        sign = parse_heartbeat(message)
        with self._lock:
            reply = self._rendezvous.beat(rank, sign, now=self._clock())
        self._show(rank, sign)
        return _answer(reply)

    def _show(self, rank: int, sign: Heartbeat) -> None:
        if sign.lines and self._on_lines is not None:
            self._on_lines(rank, sign.lines)


def _answer(reply: Reply) -> dict[str, Json]:
    members = None if reply.members is None else reply.members.to_json()
    return {"again": reply.again, "members": members, "stop": reply.stop, "release": reply.release}
