"""A node's lease with its driver: it is renewed every second, and a node without one ends itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol, Self

from hopyard.cluster.housekeeping import Chore, Housekeeper
from hopyard.errors import NotAuthenticated, PeerGone, WireTimeout
from hopyard.tracking import NodeOutcome, NodeState

if TYPE_CHECKING:
    from hopyard.cluster.node import NodeTask
    from hopyard.wire import Endpoint, Json

LOG = logging.getLogger(__name__)
BEAT_SECONDS = 1.0
CALL_SECONDS = 5.0
HEARTBEAT = "heartbeat"
ENDED = "ended"
_OUT_OF_REACH = (PeerGone, WireTimeout, NotAuthenticated)


class Lease(Protocol):
    """What a supervisor has while its node runs."""

    def tell(self, record: NodeOutcome) -> None:
        """Tells the driver how the node's process ended."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class NoLease:
    """The lease of a node whose supervisor is the driver itself."""

    def tell(self, record: NodeOutcome) -> None:
        """Does nothing: the driver sees it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


class WireLease:
    """Renews a node's lease in a thread while open; calls `stop` when the driver says so or is gone.

    Args:
        endpoint: The coordinator of the run.
        rank: Whose lease.
        seconds: How long the driver may be out of reach.
        stop: Called with the reason, at most once.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        rank: int,
        *,
        seconds: float,
        stop: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from hopyard.wire import WireClient  # loads Arrow, which nodes beside the driver do without

        self._client = WireClient(endpoint, timeout=CALL_SECONDS)
        self._rank = rank
        self._seconds = seconds
        self._stop: Callable[[str], None] | None = stop
        self._clock = clock
        self._heard = clock()
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as resources:
            resources.enter_context(self._client)
            # not `beat`, which is patient: a driver that was never in reach is an error to tell at once
            self._heed(self._client.call(HEARTBEAT, {"rank": self._rank}))
            resources.enter_context(Housekeeper(Chore(self.beat, BEAT_SECONDS)))
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def beat(self) -> None:
        """Tells the driver that the node is alive, and heeds the answer."""
        try:
            answer = self._client.call(HEARTBEAT, {"rank": self._rank})
        except _OUT_OF_REACH:
            silence = self._clock() - self._heard
            if silence > self._seconds:
                self._end(f"its driver has been out of reach for {silence:.0f} s (lease_seconds)")
            return
        self._heed(answer)

    def _heed(self, answer: Mapping[str, Json]) -> None:
        self._heard = self._clock()
        reason = answer.get("stop")
        if isinstance(reason, str):
            self._end(reason)

    def tell(self, record: NodeOutcome) -> None:
        """Tells the driver how the node's process ended."""
        failed = record.state is NodeState.FAILED
        try:
            self._client.call(ENDED, {"rank": self._rank, "failed": failed})
        except _OUT_OF_REACH as error:
            # the outcome still goes to the project; who does not hear it is gone or will see the task end
            LOG.warning("the driver was not told of the end of node %d: %s", self._rank, error)

    def _end(self, reason: str) -> None:
        stop, self._stop = self._stop, None
        if stop is not None:
            stop(reason)


def lease_of(task: NodeTask, stop: Callable[[str], None]) -> Lease:
    """Returns the lease that a node is to hold; `stop` is called when it ends."""
    if task.coordinator is None:
        return NoLease()
    return WireLease(task.coordinator, task.node.rank, seconds=task.lease_seconds, stop=stop)
