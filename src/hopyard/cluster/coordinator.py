"""The driver's end of the wire: hears the nodes of a run and tells them when to stop."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Mapping

from hopyard.cluster.group_state import GroupState
from hopyard.cluster.lease import ENDED, HEARTBEAT
from hopyard.errors import NoSuchAddress, UnknownMethod
from hopyard.wire import Json, Service, routable_address

LOG = logging.getLogger(__name__)


class Coordinator(Service):
    """Serves one run; its methods are called from threads of the wire."""

    def __init__(self, size: int) -> None:
        self._state = GroupState(size)
        self._lock = threading.Lock()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a node."""
        rank = message.get("rank")
        if not isinstance(rank, int):
            raise TypeError(f"rank={rank!r} is no number of a node")
        if method == HEARTBEAT:
            with self._lock:
                return {"stop": self._state.beat(rank).stop}
        if method == ENDED:
            with self._lock:
                self._state.end(rank, failed=bool(message.get("failed")))
            return {}
        raise UnknownMethod(method)

    def stop(self, reason: str) -> None:
        """Tells all nodes to stop, with their next heartbeat."""
        with self._lock:
            self._state.stop(reason)

    def has_nodes(self) -> bool:
        """Whether any node is there to be told something."""
        with self._lock:
            return self._state.running > 0


def driver_address(driver_host: str, environ: Mapping[str, str] = os.environ) -> str:
    """Returns the address at which executors reach this driver.

    HOPYARD_NETWORK decides if it is set. Otherwise it is the address that Spark gave its executors
    (``spark.driver.host``), where this machine has it; behind a gateway it has not, and is asked for its own.
    """
    if environ.get("HOPYARD_NETWORK"):
        return routable_address(environ=environ)
    try:
        return routable_address(socket.gethostbyname(driver_host))
    except (OSError, NoSuchAddress) as error:
        own = routable_address(environ=environ)
        LOG.warning("%s; nodes are told to call %s: set HOPYARD_NETWORK if they cannot", error, own)
        return own
