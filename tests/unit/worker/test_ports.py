from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hopyard.errors import InvalidPorts, PortsTaken
from hopyard.worker.ports import HeldPort, check_ports, hold_port, is_listened_at, parse_ports

pytestmark = pytest.mark.unit

REUSE = {
    "both": (socket.SO_REUSEADDR, socket.SO_REUSEPORT),  # gRPC: TensorFlow, JAX
    "address": (socket.SO_REUSEADDR,),  # torch
    "port": (socket.SO_REUSEPORT,),
}


@pytest.fixture
def free() -> int:
    """A port that was free a moment ago."""
    with hold_port() as port:
        return port.number


@pytest.fixture
def two_free() -> tuple[int, int]:
    with hold_port() as one, hold_port() as other:
        return one.number, other.number


def listen(port: int, *options: int, host: str = "") -> socket.socket:
    """Returns a server as frameworks make it; with no options, one that needs the port for itself."""
    server = socket.socket()
    for option in options:
        server.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        server.bind((host, port))
        server.listen()
    except OSError:
        server.close()
        raise
    return server


# --- who listens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", REUSE.values(), ids=REUSE)
def test_somebody_who_listens_at_a_held_port_is_seen(options: tuple[int, ...]) -> None:
    with hold_port() as port:
        assert not is_listened_at(port.number)
        with listen(port.number, *options):
            assert is_listened_at(port.number)
        assert not is_listened_at(port.number)


def test_somebody_who_listens_on_ipv6_only_is_seen(free: int) -> None:
    with socket.create_server(("::1", free), family=socket.AF_INET6):
        assert is_listened_at(free)


def test_connections_that_linger_after_their_server_are_nobody_who_listens(free: int) -> None:
    with listen(free) as server, socket.create_connection(("127.0.0.1", free), timeout=5) as client:
        server.accept()[0].close()
        assert client.recv(1) == b""
    assert not is_listened_at(free)


# --- holding ---------------------------------------------------------------------------------------


def test_any_free_port_is_held_and_no_two_are_the_same() -> None:
    with hold_port() as one, hold_port() as other:
        assert one.number != other.number
        assert one.number > 0


def test_a_held_port_is_taken_for_everybody_who_needs_it_for_himself() -> None:
    with hold_port() as port, pytest.raises(OSError, match="in use"):
        listen(port.number)


@pytest.mark.parametrize("asked", [0, 1])
@pytest.mark.parametrize("options", REUSE.values(), ids=REUSE)
def test_servers_of_the_frameworks_listen_at_a_port_while_it_is_held(
    options: tuple[int, ...], asked: int, free: int
) -> None:
    with (
        hold_port((free * asked,)) as port,
        listen(port.number, *options) as server,
        socket.create_connection(("127.0.0.1", port.number), timeout=5) as client,
    ):
        assert server.accept()[1] == client.getsockname()


def test_no_other_node_of_this_process_gets_a_port_that_is_held(free: int) -> None:
    with hold_port((free,)), pytest.raises(PortsTaken):
        hold_port((free,))
    hold_port((free,)).release()


def test_a_port_that_was_held_as_any_is_not_given_to_who_asks_for_its_number() -> None:
    with hold_port() as port, pytest.raises(PortsTaken):
        hold_port((port.number,))


def test_no_other_process_gets_a_port_that_is_held(free: int) -> None:
    code = f"from hopyard.worker.ports import hold_port; hold_port(({free},))"
    with hold_port((free,)):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"PortsTaken: no free port at {socket.gethostname()} in the port {free}" in done.stderr


def test_a_port_is_free_again_when_its_holder_is_killed(free: int) -> None:
    code = f"""if True:
        from hopyard.worker.ports import hold_port
        held = hold_port(({free},))
        print("held", flush=True)
        import signal
        signal.pause()
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(PortsTaken):
            hold_port((free,))
        holder.kill()
    hold_port((free,)).release()


def test_the_first_free_one_of_several_is_held(two_free: tuple[int, int]) -> None:
    with hold_port(two_free) as first, hold_port(two_free) as second:
        assert (first.number, second.number) == two_free
        with pytest.raises(PortsTaken, match="; allow more ports, or 0 for any free one"):
            hold_port(two_free)
        with hold_port((*two_free, 0)) as third:
            assert third.number not in two_free


@pytest.mark.parametrize("options", [(), *REUSE.values()], ids=["none", *REUSE])
def test_a_port_at_which_a_foreign_server_listens_is_taken(options: tuple[int, ...]) -> None:
    with listen(0, *options, host="127.0.0.1") as server, pytest.raises(PortsTaken):
        hold_port((server.getsockname()[1],))


def test_connections_that_linger_from_the_last_run_do_not_take_a_port(free: int) -> None:
    with listen(free, *REUSE["both"]) as server:
        client = socket.create_connection(("127.0.0.1", free), timeout=5)
        accepted = server.accept()[0]
        accepted.close()  # who closes first is left in TIME_WAIT, at the server's port
        assert client.recv(1) == b""
        client.close()
    hold_port((free,)).release()


def test_the_error_names_host_and_ports() -> None:
    with hold_port() as port, pytest.raises(PortsTaken) as caught:
        hold_port((port.number, port.number))
    assert str(caught.value).startswith(f"no free port at {socket.gethostname()} in the ports {port.number}")


# --- letting go ------------------------------------------------------------------------------------


def test_after_its_release_a_port_is_free_for_everybody() -> None:
    port = hold_port()
    port.release()
    port.release()
    listen(port.number).close()


def test_a_port_is_held_without_any_file(free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with hold_port((free,)), hold_port():
        assert not list(tmp_path.iterdir())


class Heir:
    """A process that has inherited a held port."""

    def __init__(self, port: HeldPort) -> None:
        code = "import os; os.read(0, 1)"
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, pass_fds=(port.fileno(),)
        )

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def test_a_port_that_was_handed_over_is_held_until_the_heir_ends() -> None:
    with hold_port() as port:
        heir = Heir(port)
        port.hand_over()
        with pytest.raises(OSError, match="in use"):
            listen(port.number)
        heir.end()
        listen(port.number).close()


def test_a_port_that_was_handed_over_is_kept_from_other_nodes_until_its_release() -> None:
    with hold_port() as port:
        port.hand_over()
        with pytest.raises(PortsTaken):
            hold_port((port.number,))
    hold_port((port.number,)).release()


def test_a_port_is_not_inherited_by_who_is_not_meant_to() -> None:
    with hold_port() as port:
        code = "import os, sys; os.fstat(int(sys.argv[1]))"
        command = [sys.executable, "-S", "-c", code, str(port.fileno())]
        assert subprocess.run(command, capture_output=True, close_fds=False, check=False).returncode == 1


# --- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("8000", (8000,)),
        ("8000-8002", (8000, 8001, 8002)),
        ("8000, 8005", (8000, 8005)),
        ("8000-8001,8001-8002,0", (8000, 8001, 8002, 0)),
    ],
)
def test_a_setting_names_ports_in_order_and_none_twice(text: str, ports: tuple[int, ...]) -> None:
    assert parse_ports(text) == ports


@pytest.mark.parametrize(
    "text", ["", "x", "8000-", "-8000", "8002-8000", "65536", "8000,,8001", "80.5", "1-70000"]
)
def test_a_setting_that_names_no_ports_is_refused(text: str) -> None:
    with pytest.raises(InvalidPorts, match="cannot be used as ports; give a port"):
        parse_ports(text)


@pytest.mark.parametrize("ports", [[], [-1], [65536], ["8000"], [80.0], [True]])
def test_numbers_that_are_no_ports_are_refused(ports: list[object]) -> None:
    with pytest.raises(InvalidPorts):
        check_ports(ports)  # type: ignore[arg-type]


def test_a_number_is_no_list_of_ports() -> None:
    with pytest.raises(InvalidPorts, match="8000 cannot be used as ports"):
        check_ports(8000)  # type: ignore[arg-type]
