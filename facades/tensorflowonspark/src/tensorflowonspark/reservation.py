"""Ends a streaming program from another process; ``from tensorflowonspark import reservation``.

The driver writes the address to its log when it begins to feed a stream:

    client = reservation.Client((host, port))
    client.request_stop()
    client.close()

The host has a secret before it, ``<secret>@<host>``: only who can read the driver's log can end its stream. What
travels is what all of Hopyard speaks, JSON over Arrow Flight; nothing is unpickled.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from hopyard.errors import BadArguments, BadReservationAddress, NotAuthenticated, UnknownMethod
from hopyard.wire import Endpoint, Json, Service, WireClient, WireServer
from hopyard.worker.ports import ANY_PORT

__all__ = ["Client", "Server"]

LOG = logging.getLogger(__name__)

_REPLY = "reply"
_SECRET_BYTES = 16
_CALL_SECONDS = 30.0


class Server(Service):
    """Answers a `Client` on behalf of a cluster: who its nodes are, and that its stream is to end.

    Args:
        nodes: Returns the nodes of the cluster as dictionaries.

    Attributes:
        done: Whether a client has asked for the end of the stream.
    """

    def __init__(self, nodes: Callable[[], Sequence[Mapping[str, Json]]]) -> None:
        self.done = False
        self._nodes = nodes
        self._wire: WireServer | None = None
        self._secret = secrets.token_hex(_SECRET_BYTES)

    @property
    def address(self) -> tuple[str, int] | None:
        """What a `Client` needs: ``(<secret>@<host>, port)``; None while the server does not listen."""
        if self._wire is None:
            return None
        endpoint = self._wire.endpoint
        return f"{endpoint.token}@{endpoint.host}", endpoint.port

    def start(self, host: str | None = None, ports: Sequence[int] = ANY_PORT) -> tuple[str, int]:
        """Listens at an address of this machine, and returns the `address`.

        Args:
            host: The address; the one that peers reach if None.
            ports: Ports to try; if all are taken, any free one.
        """
        if self._wire is None:
            wanted = tuple(dict.fromkeys((*ports, *ANY_PORT)))
            self._wire = WireServer(self, address=host, port=wanted, token=self._secret)
        address = self.address
        assert address is not None
        return address

    def stop(self) -> None:
        """Ends listening; nothing happens if it does not listen."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a client; the methods have the names of the old messages."""
        if method == "STOP":
            LOG.info("a client asked for the end of the stream")
            self.done = True
            return {_REPLY: "OK"}
        if method == "QUERY":  # whether all nodes are there: before that nobody knows the address
            return {_REPLY: True}
        if method == "QINFO":
            return {_REPLY: [dict(node) for node in self._nodes()]}
        raise UnknownMethod(method)


class Client:
    """Talks to the driver of a cluster that is fed by a stream.

    Args:
        server_addr: Host and port as on the driver's log, or ``cluster.cluster_meta["server_addr"]``.

    Raises:
        BadReservationAddress: The host has no secret before it.
    """

    def __init__(self, server_addr: tuple[str, int]) -> None:
        self.server_addr = server_addr
        place, port = server_addr
        secret, _, host = str(place).rpartition("@")
        if not (secret and host):
            raise BadReservationAddress(f"{place} {port}", "it has no secret")
        if not str(port).isdecimal():
            raise BadArguments("reservation.Client", f"{port!r} is no port")
        self._link = WireClient(Endpoint(host=host, port=int(port), token=secret), timeout=_CALL_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request_stop(self) -> str:
        """Asks the driver to end its stream, and returns ``"OK"``; rows that have come are still fed.

        Raises:
            BadReservationAddress: The secret is not that of the driver that listens there.
            PeerGone: Nobody listens there.
        """
        return str(self._ask("STOP"))

    def get_reservations(self) -> list[dict[str, Any]]:
        """Returns the nodes as ``cluster.cluster_info`` has them; raises as `request_stop`."""
        return list(self._ask("QINFO"))

    def await_reservations(self) -> list[dict[str, Any]]:
        """As `get_reservations`: the address is told when all nodes are there."""
        return self.get_reservations()

    def close(self) -> None:
        """Ends the connection."""
        self._link.close()

    def _ask(self, method: str) -> Any:
        try:
            return self._link.call(method, {})[_REPLY]
        except NotAuthenticated:
            place, port = self.server_addr
            shown = f"{str(place).rpartition('@')[2]} {port}"
            raise BadReservationAddress(shown, "its secret is not that of the driver there") from None
