from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import psutil
import pyarrow
import pytest

from hopyard.errors import NoSuchAddress, PeerGone, PortsTaken
from hopyard.wire import BatchReader, Json, Service, WireClient, WireServer

from .conftest import Peer

pytestmark = pytest.mark.unit

BATCH = pyarrow.record_batch({"x": [1, 2, 3]})


class Slow(Service):
    """Begins, and ends when it is released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.released = threading.Event()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        self.begun.set()
        self.released.wait(20)
        return {"method": method}

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        for _ in batches:
            self.begun.set()
        return {}


def test_the_server_listens_at_its_address_and_nowhere_else() -> None:
    with WireServer(Slow(), address="127.0.0.2") as server:
        listening = [
            connection.laddr.ip.removeprefix("::ffff:")
            for connection in psutil.Process().net_connections()
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == server.endpoint.port
        ]
    assert listening == ["127.0.0.2"]


def test_every_server_has_a_token_of_its_own() -> None:
    with WireServer(Slow(), network="lo") as one, WireServer(Slow(), network="lo") as other:
        assert one.endpoint.token != other.endpoint.token
        assert len(one.endpoint.token) == 43  # 256 bits in base64


def test_the_wildcard_address_is_refused() -> None:
    with pytest.raises(NoSuchAddress):
        WireServer(Slow(), address="0.0.0.0")


def test_a_taken_port_of_a_range_gives_way_to_the_next(capfd: pytest.CaptureFixture[str]) -> None:
    with WireServer(Slow(), address="127.0.0.1") as first:
        taken = first.endpoint.port
        with WireServer(Slow(), address="127.0.0.1", port=range(taken, taken + 20)) as second:
            assert taken < second.endpoint.port < taken + 20
    assert capfd.readouterr().err == ""


def test_a_range_without_a_free_port_is_an_error_that_names_it(capfd: pytest.CaptureFixture[str]) -> None:
    with WireServer(Slow(), address="127.0.0.1") as first:
        taken = first.endpoint.port
        with pytest.raises(PortsTaken, match=f"in the port {taken};"):
            WireServer(Slow(), address="127.0.0.1", port=taken)
        with pytest.raises(PortsTaken, match=f"in the ports {taken}, {taken};"):
            WireServer(Slow(), address="127.0.0.1", port=[taken, taken])
    assert capfd.readouterr().err == ""


def test_a_port_is_free_again_after_close() -> None:
    slow = Slow()
    slow.released.set()
    with WireServer(slow, address="127.0.0.1") as first, WireClient(first.endpoint) as client:
        client.call("x", {})
    with WireServer(slow, address="127.0.0.1", port=first.endpoint.port) as second:
        assert second.endpoint.port == first.endpoint.port


def test_close_lets_a_call_under_way_finish() -> None:
    slow = Slow()
    server = WireServer(slow, address="127.0.0.1", close_timeout=10)
    with WireClient(server.endpoint) as client, ThreadPoolExecutor() as pool:
        answer = pool.submit(client.call, "x", {})
        assert slow.begun.wait(5)
        closing = pool.submit(server.close)
        _wait_until_refused(server)
        slow.released.set()
        assert answer.result(5) == {"method": "x"}
        closing.result(5)


def test_close_returns_in_time_with_a_call_that_never_ends_and_its_client_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow = Slow()
    server = WireServer(slow, address="127.0.0.1", close_timeout=0.4)
    with WireClient(server.endpoint, timeout=20) as client, ThreadPoolExecutor() as pool:
        answer = pool.submit(client.call, "x", {})
        assert slow.begun.wait(5)
        start = time.monotonic()
        server.close()
        assert time.monotonic() - start < 1.5
        assert isinstance(answer.exception(2), PeerGone)
        slow.released.set()
    assert "still running" in caplog.text


def test_close_ends_a_stream_whose_client_is_silent() -> None:
    slow = Slow()
    server = WireServer(slow, address="127.0.0.1", close_timeout=0.4)
    more = threading.Event()

    def halting() -> Iterator[pyarrow.RecordBatch]:
        yield BATCH
        more.wait(20)
        yield from itertools.repeat(BATCH)

    with WireClient(server.endpoint) as client, ThreadPoolExecutor() as pool:
        reply = pool.submit(client.put, "x", BATCH.schema, halting())
        assert slow.begun.wait(5)
        start = time.monotonic()
        server.close()
        assert time.monotonic() - start < 1.5
        more.set()
        assert isinstance(reply.exception(2), PeerGone)


def test_a_second_close_does_nothing() -> None:
    with WireServer(Slow(), address="127.0.0.1") as server:
        server.close()


def test_close_cuts_no_connection_but_its_own() -> None:
    kept, cut = Slow(), Slow()
    server = WireServer(cut, address="127.0.0.1", close_timeout=0.2)
    with (
        WireServer(kept, address="127.0.0.1") as other,
        WireClient(other.endpoint) as client,
        WireClient(server.endpoint) as doomed,
        ThreadPoolExecutor() as pool,
    ):
        answer, lost = pool.submit(client.call, "x", {}), pool.submit(doomed.call, "x", {})
        assert kept.begun.wait(5)
        assert cut.begun.wait(5)
        server.close()
        assert isinstance(lost.exception(2), PeerGone)
        kept.released.set()
        cut.released.set()
        assert answer.result(5) == {"method": "x"}


def test_a_process_ends_quietly_with_a_call_under_way(start_peer: Callable[[str], Peer]) -> None:
    server = start_peer("endless")
    with WireClient(server.endpoint()) as client, ThreadPoolExecutor() as pool:
        answer = pool.submit(client.call, "x", {})
        assert server.line() == "in call"
        assert server.dismiss() == 0
        assert isinstance(answer.exception(5), PeerGone)
    assert server.stderr.read_text() == ""


def _wait_until_refused(server: WireServer) -> None:
    """Returns once the server takes no more connections."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            socket.create_connection((server.endpoint.host, server.endpoint.port), timeout=1).close()
        except ConnectionRefusedError:
            return
        except ConnectionResetError:
            continue  # it was in the queue of the socket that is being closed
    pytest.fail("the server still listens 5 s after close")
