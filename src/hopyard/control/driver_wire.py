"""A coordinator on the wire, and the address at which executors find it."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping

from hopyard.control.coordinator import Coordinator
from hopyard.errors import NoSuchAddress
from hopyard.wire import BatchReader, Json, Service, routable_address
from hopyard.worker.detach.delivery import from_batches, sender_of

LOG = logging.getLogger(__name__)


class CoordinatorService(Service):
    """Serves a coordinator; its methods are called from threads of the wire.

    Args:
        coordinator: Who hears the nodes.
        outcome_key: With which supervisors mark the outcomes that they bring; without it, none is taken.
    """

    def __init__(self, coordinator: Coordinator, *, outcome_key: bytes = b"") -> None:
        self._coordinator = coordinator
        self._outcome_key = outcome_key

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a node."""
        return self._coordinator.call(method, message)

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        """Takes what came of a node."""
        rank, incarnation = sender_of(stream)
        self._coordinator.deliver(rank, incarnation, from_batches(batches, stream, self._outcome_key))
        return {}


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
