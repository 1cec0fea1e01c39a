"""Connections of strangers: those that never showed a token are cut, so that they take nothing from others."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from hopyard.wire.connection import Connections, peer_of_call

LOG = logging.getLogger(__name__)
SWEEP_SECONDS = 0.5
SWEEP_SHARE = 20  # of the time, one part is for looking where there is a lot to look at
CROWDED_SECONDS = 1.0


class Strangers:
    """Knows whose connections have shown the token, and cuts the others after some seconds.

    A client calls as soon as it is connected, so a connection without a call is nobody's. If there are so many that
    descriptors run out, they are cut sooner.

    Args:
        seconds: How long a connection may be without a call that shows the token.
        crowd: So many are a crowd, of which each has a second only.
        clock: Seconds that only grow.
    """

    def __init__(self, seconds: float, crowd: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._crowd = crowd
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, float] = {}
        self._since: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def count(self) -> int:
        """How many there were when last looked."""
        return len(self._since)

    def admit(self, call: str) -> None:
        """Takes the peer of a call, as gRPC names it, for one who has the token."""
        with self._lock:
            self._known[peer_of_call(call)] = self._clock()

    def start(self, connections: Connections) -> None:
        """Begins to look at connections, in a thread."""
        self._thread = threading.Thread(
            target=self._watch, args=(connections,), name="hopyard-wire-strangers", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends that."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def sweep(self, connections: Connections) -> None:
        """Looks at the connections once, and cuts those whose time is over."""
        now = self._clock()
        with self._lock:
            known = dict(self._known)
        seconds = CROWDED_SECONDS if len(self._since) > self._crowd else self._seconds
        before, self._since = self._since, {}

        def is_unwelcome(peer: str) -> bool:
            if peer in known:
                return False
            since = self._since[peer] = before.get(peer, now)
            return now - since >= seconds

        present = connections.look(is_unwelcome)
        self._report(cut=len(self._since.keys() - present))
        self._since = {peer: since for peer, since in self._since.items() if peer in present}
        with self._lock:  # who is gone is forgotten, but not who came while we looked
            self._known = {peer: last for peer, last in self._known.items() if peer in present or last >= now}

    def _report(self, *, cut: int) -> None:
        if cut:
            LOG.warning("%d connections were cut that had never shown the token of this run", cut)

    def _watch(self, connections: Connections) -> None:
        pause = SWEEP_SECONDS
        while not self._stop.wait(pause):
            began = self._clock()
            self.sweep(connections)
            pause = max(SWEEP_SECONDS, SWEEP_SHARE * (self._clock() - began))
