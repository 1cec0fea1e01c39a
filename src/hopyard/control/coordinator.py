"""The service of a run: hears its nodes and tells them what to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from hopyard.control.gang import Gang
from hopyard.control.service import PoolService
from hopyard.errors import UnknownMethod
from hopyard.protocol.messages import Answer, Arrive, Beat, Ended, Left, Message, Noted
from hopyard.protocol.node_status import Heartbeat, NodeStatus
from hopyard.protocol.outcome import Outcome

Listener = Callable[[int, tuple[str, ...]], None]


class Coordinator(PoolService):
    """A gang that threads may share, and that speaks in messages.

    Args:
        gang: What is known of the run.
        on_lines: Receives the rank and the output of a node where nodes send it.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        gang: Gang,
        *,
        on_lines: Listener | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._gang = gang
        self._on_lines = on_lines
        self._clock = clock
        self._lock = threading.Lock()

    def answer(self, message: Message[Any]) -> Answer:
        """Answers a node."""
        rank, incarnation = message.number, message.incarnation
        with self._lock:
            now = self._clock()
            match message:
                case Beat(heartbeat=heartbeat):
                    answer: Answer = self._gang.beat(rank, heartbeat, incarnation=incarnation, now=now)
                case Arrive(address=address, host=host):
                    answer = self._gang.arrive(
                        rank, incarnation=incarnation, address=address, host=host, now=now
                    )
                case Ended(record=record, heartbeat=heartbeat):
                    self._gang.end(rank, record, heartbeat, incarnation=incarnation, now=now)
                    answer = Noted()
                case Left():
                    self._gang.leave(rank, incarnation=incarnation)
                    answer = Noted()
                case _:
                    raise UnknownMethod(type(message).__name__)
        if isinstance(message, (Beat, Ended)):
            self._show(rank, message.heartbeat)
        if isinstance(message, (Ended, Left)):
            self.news.set()
        return answer

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        """Takes what came of a node."""
        with self._lock:
            self._gang.deliver(number, outcome, incarnation=incarnation, now=self._clock())
        self.news.set()

    def stop(self, reason: str) -> None:
        """Tells all nodes to stop, with their next call."""
        with self._lock:
            self._gang.stop(reason)

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        with self._lock:
            self._gang.grant(grace_seconds)

    def suspect(self) -> None:
        """Hears that the backend has lost a node; those that stay silent count as lost soon."""
        with self._lock:
            self._gang.suspect(self._clock())

    def give_up(self, error: Exception) -> None:
        """Hears that nodes which are not here will not come any more, and why."""
        with self._lock:
            self._gang.give_up(error, self._clock())

    def tick(self) -> bool:
        """Looks at the clock; returns whether nothing more is to be expected from the nodes."""
        with self._lock:
            self._gang.tick(self._clock())
            return self._gang.is_done

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        with self._lock:
            return self._gang.status(self._clock())

    @property
    def is_settled(self) -> bool:
        """Whether all nodes have ended and stored what they leave."""
        with self._lock:
            return self._gang.is_settled

    @property
    def is_ending(self) -> bool:
        """Whether nodes are told to end."""
        with self._lock:
            return self._gang.is_stopping

    @property
    def awaits_workers(self) -> bool:
        """Whether some nodes have never arrived."""
        with self._lock:
            return not self._gang.has_all

    @property
    def progress(self) -> int:
        """Always the same: nodes are started again as a whole, by whoever started them."""
        return 0

    def _show(self, rank: int, heartbeat: Heartbeat) -> None:
        if heartbeat.lines and self._on_lines is not None:
            self._on_lines(rank, heartbeat.lines)
