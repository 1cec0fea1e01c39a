"""Servers on loopback that no store can work with."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


class SaysTheSame(socketserver.BaseRequestHandler):
    """Answers whatever is asked with the same words."""

    def handle(self) -> None:
        self.request.recv(1)
        self.request.sendall(self.server.words)  # type: ignore[attr-defined]


class Parrot(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, words: bytes) -> None:
        super().__init__(("127.0.0.1", 0), SaysTheSame)
        self.words = words


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()
    return f"{host}:{port}"


@contextmanager
def refusing() -> Iterator[str]:
    """Gives an address where nothing listens; it is held, so that nothing else will."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield address_of(held)


@contextmanager
def silent() -> Iterator[str]:
    """Gives the address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        yield address_of(server)


@contextmanager
def dropping() -> Iterator[str]:
    """Gives an address to which packets get lost: its queue of connections is full."""
    with ExitStack() as held:
        server = held.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = held.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield address_of(server)


@contextmanager
def unknown() -> Iterator[str]:
    """Gives an address whose host nobody knows."""
    yield "nowhere.invalid:9000"


@contextmanager
def saying(words: bytes) -> Iterator[str]:
    """Gives the address of a server that always says the same."""
    with Parrot(words) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield address_of(server.socket)
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def ssh() -> Iterator[str]:
    with saying(b"SSH-2.0-OpenSSH_9.6\r\n") as address:
        yield address


@contextmanager
def web() -> Iterator[str]:
    with saying(
        b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<html></html>"
    ) as address:
        yield address
