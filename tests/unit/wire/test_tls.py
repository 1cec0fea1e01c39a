from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress

import pytest
from cryptography import x509

from hopyard.errors import MissingDependency, NotAuthenticated, PeerGone, PeerNotTrusted
from hopyard.wire import Endpoint, Json, Service, WireClient, WireServer
from hopyard.wire.tls import make_identity

pytestmark = pytest.mark.unit

NOW = datetime.datetime(2030, 1, 2, tzinfo=datetime.UTC)


class Echo(Service):
    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        return message


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(Echo(), address="127.0.0.1", tls=True) as server:
        yield server


def test_calls_go_over_tls(server: WireServer) -> None:
    with WireClient(server.endpoint) as client:
        assert client.call("echo", {"a": 1}) == {"a": 1}


def test_nothing_readable_travels_over_tls(server: WireServer) -> None:
    with socket.create_connection((server.endpoint.host, server.endpoint.port), timeout=5) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert b"HTTP" not in connection.recv(100)


def test_a_server_with_another_certificate_is_refused(
    server: WireServer, capfd: pytest.CaptureFixture[str]
) -> None:
    other = make_identity("127.0.0.1", now=datetime.datetime.now(datetime.UTC))
    endpoint = dataclasses.replace(server.endpoint, certificate=other.certificate)
    with WireClient(endpoint) as client, pytest.raises(PeerNotTrusted):
        client.call("echo", {})
    assert capfd.readouterr().err == ""


def test_the_token_counts_over_tls_too(server: WireServer) -> None:
    endpoint = dataclasses.replace(server.endpoint, token="guess")
    with WireClient(endpoint) as client, pytest.raises(NotAuthenticated):
        client.call("echo", {})


def test_a_client_without_tls_gets_nowhere(server: WireServer, capfd: pytest.CaptureFixture[str]) -> None:
    endpoint = dataclasses.replace(server.endpoint, certificate=None)
    with WireClient(endpoint) as client, pytest.raises(PeerGone):
        client.call("echo", {})
    assert capfd.readouterr().err == ""


def test_the_certificate_is_for_one_address_and_signs_nothing() -> None:
    certificate = x509.load_pem_x509_certificate(make_identity("10.1.2.3", now=NOW).certificate.encode())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("10.1.2.3")]
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_the_certificate_allows_for_clocks_that_are_behind() -> None:
    certificate = x509.load_pem_x509_certificate(make_identity("10.1.2.3", now=NOW).certificate.encode())
    assert certificate.not_valid_before_utc == NOW - datetime.timedelta(days=1)
    assert certificate.not_valid_after_utc > NOW + datetime.timedelta(days=365)


def test_repr_hides_the_private_key() -> None:
    identity = make_identity("10.1.2.3", now=NOW)
    assert "PRIVATE KEY" in identity.private_key
    assert "PRIVATE KEY" not in repr(identity)


def test_tls_without_cryptography_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingDependency, match=r"pip install 'hopyard\[tls\]'"):
        WireServer(Echo(), address="127.0.0.1", tls=True)


# --- what an eavesdropper sees ---------------------------------------------------------------------


class Recorder:
    """Stands between a client and a server, for one connection, and records what it passes on.

    Attributes:
        endpoint: Where the client finds it.
    """

    def __init__(self, server: Endpoint, resources: ExitStack) -> None:
        self._server = server
        self._seen = bytearray()
        self._resources = resources
        self._listener = resources.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.endpoint = dataclasses.replace(server, port=self._listener.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def seen(self) -> bytes:
        """All that has passed, once the connection has ended."""
        for thread in self._threads:
            thread.join(10)
        return bytes(self._seen)

    def _accept(self) -> None:
        near = self._resources.enter_context(self._listener.accept()[0])
        far = self._resources.enter_context(socket.create_connection((self._server.host, self._server.port)))
        for source, target in ((near, far), (far, near)):
            self._threads.append(threading.Thread(target=self._pass_on, args=(source, target)))
            self._threads[-1].start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(ConnectionError):  # one end has hung up, and so does the other one
            while data := source.recv(1 << 16):
                self._seen += data
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("tls", [True, False])
def test_neither_the_token_nor_a_message_can_be_read_on_the_way_with_tls(tls: bool) -> None:
    with ExitStack() as resources:
        server = resources.enter_context(WireServer(Echo(), address="127.0.0.1", tls=tls))
        recorder = Recorder(server.endpoint, resources)
        with WireClient(recorder.endpoint) as client:
            client.call("echo", {"a": "a-plain-word"})
        can_read = [word in recorder.seen for word in (server.endpoint.token.encode(), b"a-plain-word")]
    assert can_read == [not tls, not tls]


# --- who decides -----------------------------------------------------------------------------------
