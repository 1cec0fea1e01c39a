"""The driver's end of the wire: hears the nodes of a run and tells them what to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hopyard.codec.records import decode
from hopyard.control.gang import Gang, Reply
from hopyard.errors import UnknownMethod
from hopyard.protocol.node_status import Heartbeat, NodeStatus
from hopyard.protocol.outcome import Outcome
from hopyard.tracking import NodeOutcome
from hopyard.worker.lease import ENDED, HEARTBEAT, LEFT, REGISTER, parse_heartbeat

if TYPE_CHECKING:
    from hopyard.wire import Json

Listener = Callable[[int, tuple[str, ...]], None]


class Coordinator:
    """A gang that threads may share, and that speaks in messages; serve it on the wire or call it directly.

    Args:
        gang: What is known of the run.
        on_lines: Receives the rank and the output of a node where nodes send it.
        on_left: Called when a node has ended and stored what it leaves.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        gang: Gang,
        *,
        on_lines: Listener | None = None,
        on_left: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gang = gang
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
                reply = self._gang.register(
                    rank,
                    incarnation=str(message["incarnation"]),
                    address=str(message["address"]),
                    host=str(message["host"]),
                    now=self._clock(),
                )
            return _answer(reply)
        if method == ENDED:
            record = decode(NodeOutcome, str(message["record"]).encode(), f"the end of node {rank}")
            heartbeat = parse_heartbeat(message)
            with self._lock:
                self._gang.end(
                    rank, record, heartbeat, incarnation=str(message["incarnation"]), now=self._clock()
                )
            self._show(rank, heartbeat)
            return {}
        if method == LEFT:
            with self._lock:
                self._gang.leave(rank, incarnation=str(message["incarnation"]))
            self._on_left()
            return {}
        raise UnknownMethod(method)

    def deliver(self, rank: int, incarnation: str, outcome: Outcome) -> None:
        """Takes what came of a node."""
        with self._lock:
            self._gang.deliver(rank, outcome, incarnation=incarnation, now=self._clock())

    def stop(self, reason: str) -> None:
        """Tells all nodes to stop, with their next call."""
        with self._lock:
            self._gang.stop(reason)

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        with self._lock:
            self._gang.grant(grace_seconds)

    def suspect(self) -> None:
        """Takes note that Spark lost a task of the run."""
        with self._lock:
            self._gang.suspect(self._clock())

    def tick(self) -> bool:
        """Looks at the clock; returns whether nothing more is to be expected from the nodes."""
        with self._lock:
            self._gang.tick(self._clock())
            return self._gang.is_over

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        with self._lock:
            return self._gang.status(self._clock())

    @property
    def present(self) -> int:
        """How many nodes are there to be told something."""
        with self._lock:
            return self._gang.present

    @property
    def is_settled(self) -> bool:
        """Whether all nodes have ended and stored what they leave."""
        with self._lock:
            return self._gang.is_settled

    def _beat(self, rank: int, message: Mapping[str, Json]) -> Mapping[str, Json]:
        heartbeat = parse_heartbeat(message)
        with self._lock:
            reply = self._gang.beat(
                rank, heartbeat, incarnation=str(message["incarnation"]), now=self._clock()
            )
        self._show(rank, heartbeat)
        return _answer(reply)

    def _show(self, rank: int, heartbeat: Heartbeat) -> None:
        if heartbeat.lines and self._on_lines is not None:
            self._on_lines(rank, heartbeat.lines)


def _answer(reply: Reply) -> dict[str, Json]:
    members = None if reply.members is None else reply.members.to_json()
    return {"again": reply.again, "members": members, "stop": reply.stop, "release": reply.release}
