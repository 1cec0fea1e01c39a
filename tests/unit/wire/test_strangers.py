"""Connections of strangers, who have no token: they take nothing from those who have one."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress

import pyarrow
import pytest

from hopyard.errors import HopyardError
from hopyard.testing.watching import wait_until
from hopyard.wire import BatchReader, Endpoint, Json, Service, WireClient, WireServer

from .conftest import Peer

pytestmark = pytest.mark.unit

STRANGERS = 1300  # more than a process with 1,024 descriptors can take
RECOVERY_SECONDS = 10.0
SILENCE = b""
HALF_A_GREETING = b"PRI * HTTP/2.0\r\n"
A_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # with no settings
BATCH = pyarrow.record_batch({"x": [1, 2, 3]})


@pytest.fixture(autouse=True)
def _many_descriptors() -> Iterator[None]:
    """Lets this process hold both ends of a crowd."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * STRANGERS:
        pytest.skip(f"a process may open {hard} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * STRANGERS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def stranger(endpoint: Endpoint, says: bytes, resources: ExitStack) -> socket.socket:
    connection = resources.enter_context(
        socket.create_connection((endpoint.host, endpoint.port), timeout=RECOVERY_SECONDS)
    )
    connection.sendall(says)
    return connection


def is_well(endpoint: Endpoint) -> bool:
    """Tells whether a new client is answered, and the server's process can open a file."""
    with WireClient(endpoint, timeout=2) as client, suppress(HopyardError):
        return client.call("open", {})["error"] is None
    return False


@pytest.mark.parametrize("says", [SILENCE, HALF_A_GREETING, A_GREETING], ids=["silent", "half", "greeting"])
def test_a_crowd_of_idle_strangers_does_not_keep_a_server_from_its_clients(
    start_peer: Callable[[str], Peer], says: bytes
) -> None:
    endpoint = start_peer("scarce").endpoint()
    assert is_well(endpoint)
    with ExitStack() as resources:
        for _ in range(STRANGERS):
            stranger(endpoint, says, resources)
        wait_until(lambda: is_well(endpoint), "the server is well again", RECOVERY_SECONDS)
        assert all(is_well(endpoint) for _ in range(20))


class Listener(Service):
    """Receives, and is told when to end."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        return message

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        return {"rows": sum(self._rows(batch) for batch in batches)}

    def _rows(self, batch: pyarrow.RecordBatch) -> int:
        self.begun.set()
        return int(batch.num_rows)


def hears_the_end(connection: socket.socket) -> bool:
    """Tells whether a server cuts a connection before the deadline."""
    try:
        while connection.recv(1 << 16):
            continue
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True
    return True


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_stranger_is_cut_and_a_client_in_the_middle_of_a_long_stream_is_not(address: str) -> None:
    service, may_go_on = Listener(), threading.Event()

    def batches() -> Iterator[pyarrow.RecordBatch]:
        yield BATCH
        assert may_go_on.wait(RECOVERY_SECONDS)
        yield BATCH

    with ExitStack() as resources:
        server = resources.enter_context(WireServer(service, address=address, stranger_seconds=0.5))
        client = resources.enter_context(WireClient(server.endpoint))
        answers: list[dict[str, Json]] = []
        pouring = threading.Thread(target=lambda: answers.append(client.put("sink", BATCH.schema, batches())))
        pouring.start()
        assert service.begun.wait(RECOVERY_SECONDS)
        for _ in range(2):  # the second has seen the first come and go
            assert hears_the_end(stranger(server.endpoint, A_GREETING, resources))
        may_go_on.set()
        pouring.join(RECOVERY_SECONDS)
        assert answers == [{"rows": 6}]


def test_a_wrong_token_makes_nobody_known() -> None:
    with ExitStack() as resources:
        server = resources.enter_context(WireServer(Listener(), address="127.0.0.1", stranger_seconds=0.5))
        wrong = Endpoint(host=server.endpoint.host, port=server.endpoint.port, token="guess")
        client = resources.enter_context(WireClient(wrong))
        with pytest.raises(PermissionError):
            client.call("x", {})
        began = time.monotonic()
        wait_until(lambda: not server.strangers, "its connection is cut", RECOVERY_SECONDS)
        assert time.monotonic() - began < RECOVERY_SECONDS


def test_a_closed_server_leaves_no_descriptor_behind() -> None:
    def descriptors_after_a_call() -> int:
        with WireServer(Listener(), address="127.0.0.1") as server, WireClient(server.endpoint) as client:
            client.call("x", {})
        return len(os.listdir("/proc/self/fd"))

    first = descriptors_after_a_call()  # gRPC keeps some of its own
    wait_until(lambda: descriptors_after_a_call() <= first, "there are no more than before", RECOVERY_SECONDS)
