"""A server of the wire."""

from __future__ import annotations

import datetime
import errno
import logging
import secrets
import socket
import threading
from collections.abc import Sequence
from typing import Any, Self

import pyarrow

from hopyard.errors import PortsTaken
from hopyard.wire.address import routable_address
from hopyard.wire.connection import Connections, raise_descriptor_limit
from hopyard.wire.endpoint import Endpoint
from hopyard.wire.handler import FlightHandler, TokenCheck
from hopyard.wire.message import MAX_MESSAGE_BYTES
from hopyard.wire.quiet import quiet_grpc
from hopyard.wire.service import Service
from hopyard.wire.strangers import Strangers
from hopyard.wire.tls import make_identity

_LOG = logging.getLogger(__name__)
_TOKEN_BYTES = 32
_CROWD_SHARE = 4  # a crowd of strangers has a quarter of the descriptors


class WireServer:
    """Serves a `Service` to whoever holds its endpoint, from construction until `close`.

    Args:
        service: What is served.
        address: The address of this machine to bind to, as an alternative to `network`.
        network: An interface, an address or a network to pick the address from: see `routable_address`.
        port: A port, several to try in order, or 0 for any that is free.
        tls: Whether to encrypt, with a certificate made for this server.
        token: The secret that clients must show; by default a new random one of 256 bits.
        max_message_bytes: Largest control message that is taken or sent.
        close_timeout: Seconds that `close` takes at the most.
        stranger_seconds: Seconds that a connection may be without a call that shows the token.

    Raises:
        NoSuchAddress: This machine has no such address.
        PortsTaken: All the ports are in use.
        MissingDependency: `tls` was asked for and `cryptography` is not installed.
    """

    def __init__(
        self,
        service: Service,
        *,
        address: str | None = None,
        network: str | None = None,
        port: int | Sequence[int] = 0,
        tls: bool = False,
        token: str | None = None,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        close_timeout: float = 5.0,
        stranger_seconds: float = 10.0,
    ) -> None:
        host = routable_address(address or network)
        token = token or secrets.token_urlsafe(_TOKEN_BYTES)
        identity = make_identity(host, now=datetime.datetime.now(datetime.UTC)) if tls else None
        self._strangers = Strangers(stranger_seconds, crowd=raise_descriptor_limit() // _CROWD_SHARE)
        options: dict[str, Any] = {
            "service": service,
            "on_call": self._strangers.admit,
            "max_message_bytes": max_message_bytes,
            "middleware": {"token": TokenCheck(token)},
        }
        if identity is not None:
            options["tls_certificates"] = [(identity.certificate, identity.private_key)]
        certificate = identity.certificate if identity else None
        self._flight = _listen(host, [port] if isinstance(port, int) else port, certificate, options)
        self._close_timeout = close_timeout
        self._closing = threading.Lock()
        self.endpoint = Endpoint(host=host, port=self._flight.port, token=token, certificate=certificate)
        self._connections = Connections(host, self._flight.port)
        self._connections.defer()
        self._strangers.start(self._connections)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    @property
    def strangers(self) -> int:
        """How many connections there were, when last looked, that had not shown the token."""
        return self._strangers.count

    def close(self) -> None:
        """Stops the server within `close_timeout` seconds; a second call does nothing.

        New calls are refused at once. Calls under way get half of the time to finish; then their
        connections are cut and SystemExit is raised inside the service methods. A method that blocks
        outside of Python and still does not return is left to its thread, with a warning in the log.
        """
        if not self._closing.acquire(blocking=False):
            return
        # A daemon, since Flight's shutdown has no deadline. Leaving the context, unlike shutdown(),
        # also takes back the wait that pyarrow would repeat at the end of the process.
        closer = threading.Thread(
            target=self._flight.__exit__, args=(None, None, None), name="hopyard-wire-close", daemon=True
        )
        self._strangers.stop()
        closer.start()
        closer.join(self._close_timeout / 2)
        if closer.is_alive():
            self._connections.sever()
            self._flight.interrupt()
            closer.join(self._close_timeout / 2)
        if closer.is_alive():
            _LOG.warning("%s closed while a service method was still running", self.endpoint.peer)
        self._connections.close()


def _listen(
    host: str, ports: Sequence[int], certificate: str | None, options: dict[str, Any]
) -> FlightHandler:
    for port in ports:
        if not _is_free(host, port):
            continue
        place = Endpoint(host=host, port=port, token="", certificate=certificate)
        try:
            with quiet_grpc():
                return FlightHandler(location=place.uri, **options)
        except pyarrow.ArrowException as error:
            # somebody else took the port since it was found free
            _LOG.debug("could not listen at %s: %s", place.peer, error)
    raise PortsTaken(host, tuple(ports))


def _is_free(host: str, port: int) -> bool:
    """Tells whether a port can be bound, so that gRPC need not try: it reports a failure on stderr."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # as gRPC does: a connection in TIME_WAIT does not make a port taken
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True
