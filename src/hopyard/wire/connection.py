"""The TCP connections of a server in this process."""

from __future__ import annotations

import os
import resource
import socket
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import unquote

MOST_DESCRIPTORS = (
    1 << 16
)  # enough; where the limit is a billion, programs that go through all of them never end
# The kernel keeps a connection to itself for so long, until its peer says something. Clients speak first.
_SILENT_SECONDS = 3600


def raise_descriptor_limit() -> int:
    """Lets this process open as many files and connections as it may, within reason; returns how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def peer_name(host: str, port: int) -> str:
    """Returns the name by which a connection is known, whoever tells of it: gRPC listens for IPv4 at IPv6 sockets."""
    return f"{host.partition('%')[0].removeprefix('::ffff:')}:{port}"


def peer_of_call(text: str) -> str:
    """Returns the name of a connection of which gRPC says "ipv4:10.0.0.1:80" or "ipv6:%5B::1%5D:80"."""
    host, _, port = unquote(text.partition(":")[2]).rpartition(":")
    return peer_name(host.strip("[]"), int(port))


class Connections:
    """What was accepted at one address and port, looked at from outside: Arrow Flight tells nothing of it.

    Looking takes no descriptor beyond two that are held from the start, so it also works when there are no more.
    """

    def __init__(self, address: str, port: int) -> None:
        self._address = address
        self._port = port
        self._lock = threading.Lock()
        self._nothing = os.open(os.devnull, os.O_RDONLY)
        self._hand = os.dup(self._nothing)  # holds one descriptor after the other, while it is looked at

    def close(self) -> None:
        """Gives the descriptors back."""
        with self._lock:
            os.close(self._hand)
            os.close(self._nothing)

    def look(self, is_unwelcome: Callable[[str], bool] = lambda _: False) -> set[str]:
        """Returns the names of the peers, without those that are unwelcome, whose connections are cut.

        Once its connection is cut, a call ends at both sides: a blocked read or write returns, and the peer sees
        `PeerGone` instead of waiting for its deadline.
        """
        welcome = set()
        for connection in self._sockets():
            peer = _peer(connection)
            if peer is None:
                continue
            if is_unwelcome(peer):
                with suppress(OSError):  # its peer has just gone by itself
                    connection.shutdown(socket.SHUT_RDWR)
            else:
                welcome.add(peer)
        return welcome

    def sever(self) -> None:
        """Cuts all of them. Flight offers no way to end calls that are under way, and its shutdown waits for them."""
        self.look(lambda _: True)

    def defer(self) -> None:
        """Makes connections arrive only when their peers have said something: silence takes no descriptor."""
        for listener in self._sockets():
            if _peer(listener) is None:
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, _SILENT_SECONDS)

    def _sockets(self) -> Iterator[socket.socket]:
        """Yields the sockets at the address and port, one at a time."""
        with self._lock:
            for descriptor in _descriptors():
                with self._held(descriptor) as some:
                    if some is not None and self._is_here(some):
                        yield some

    @contextmanager
    def _held(self, descriptor: int) -> Iterator[socket.socket | None]:
        """Gives the socket behind a descriptor, if it is one: another thread may close it at any time."""
        some = None
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.dup2(descriptor, self._hand, inheritable=False)
                some = socket.socket(fileno=self._hand)
        except OSError:  # closed, or put to other use, since it was listed
            some = None
        try:
            yield some
        finally:
            if some is not None:
                some.detach()
            os.dup2(self._nothing, self._hand, inheritable=False)  # the connection can be closed now

    def _is_here(self, some: socket.socket) -> bool:
        if some.family not in (socket.AF_INET, socket.AF_INET6) or some.type != socket.SOCK_STREAM:
            return False
        host, port = some.getsockname()[:2]
        return bool(port == self._port and peer_name(host, 0) == peer_name(self._address, 0))


def _peer(some: socket.socket) -> str | None:
    """Returns the name of the peer; None for a socket that listens, or whose peer is gone."""
    try:
        host, port = some.getpeername()[:2]
    except OSError:
        return None
    return peer_name(host, port)


def _descriptors() -> Iterable[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:  # there is none left to list them with
        return range(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
