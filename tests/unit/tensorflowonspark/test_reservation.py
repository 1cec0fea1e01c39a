from __future__ import annotations

import importlib
import pickle
import socket
import struct
from collections.abc import Iterator

import pytest

from hopyard.errors import BadArguments, BadReservationAddress, ModuleNotOffered, PeerGone
from tensorflowonspark.reservation import Client, Server

pytestmark = pytest.mark.unit

NODES = [{"executor_id": 0, "host": "10.0.0.1", "job_name": "chief", "addr": None}]


@pytest.fixture
def server() -> Iterator[Server]:
    listening = Server(lambda: NODES)
    listening.start("127.0.0.1")
    yield listening
    listening.stop()


def test_client_asks_for_the_end(server: Server) -> None:
    assert not server.done
    client = Client(server.address)
    assert client.request_stop() == "OK"
    client.close()
    assert server.done


def test_client_gets_the_nodes(server: Server) -> None:
    with Client(server.address) as client:
        assert client.get_reservations() == client.await_reservations() == NODES
    assert not server.done


def test_host_and_port_may_come_from_a_command_line(server: Server) -> None:
    host, port = server.address
    with Client((host, f"{port}")) as client:
        client.request_stop()
    assert server.done


def test_nobody_without_the_secret_ends_a_stream(server: Server) -> None:
    host, port = server.address
    with pytest.raises(BadReservationAddress, match="no secret"):
        Client((host.partition("@")[2], port))
    with (
        Client((f"wrong@{host.partition('@')[2]}", port)) as client,
        pytest.raises(BadReservationAddress, match="not that of the driver"),
    ):
        client.request_stop()
    assert not server.done


def test_a_pickled_message_of_the_old_library_is_not_read(server: Server) -> None:
    data = pickle.dumps({"type": "STOP"})
    host, port = server.address
    with socket.create_connection((host.partition("@")[2], port), timeout=10) as old:
        old.sendall(struct.pack(">I", len(data)) + data)
        while old.recv(1024):  # the greeting of gRPC, and the end
            continue
    assert not server.done


def test_a_server_that_has_stopped_is_told_as_gone(server: Server) -> None:
    address = server.address
    server.stop()
    assert server.address is None
    with Client(address) as client, pytest.raises(PeerGone):
        client.request_stop()


def test_a_port_that_is_taken_is_not_insisted_on(server: Server) -> None:
    _, taken = server.address
    other = Server(lambda: NODES)
    try:
        assert other.start("127.0.0.1", (taken,))[1] != taken
    finally:
        other.stop()


def test_each_server_has_a_secret_of_its_own() -> None:
    assert Server(lambda: NODES)._secret != Server(lambda: NODES)._secret


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(BadArguments, match="'here' is no port"):
        Client(("secret@10.0.0.1", "here"))


@pytest.mark.parametrize("module", ["dfutil", "pipeline"])
def test_modules_of_a_later_release_say_what_to_do(module: str) -> None:
    with pytest.raises(ModuleNotOffered, match=rf"no tensorflowonspark\.{module} in Hopyard yet. Instead, "):
        importlib.import_module(f"tensorflowonspark.{module}")
