"""A port for a node, held from before it is announced until the node's own server listens at it."""

from __future__ import annotations

import errno
import os
import reprlib
import socket
import stat
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Self

from hopyard.errors import InvalidPorts, PortsTaken

ANY_PORT = (0,)
_LAST_PORT = 65535
_TAKEN = (errno.EADDRINUSE, errno.EACCES)
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENING = "0A"
_TRIES = 100  # for any free port: one that its node has let go of is still kept from other nodes


class HeldPort:
    """A port that nobody else gets: its socket is bound and does not listen.

    A server in the same network namespace that sets SO_REUSEADDR or SO_REUSEPORT, as those of TensorFlow,
    torch and JAX do, can listen at the port all the while, so there is no moment at which the port is free.
    Anything else needs `release` first.
    """

    def __init__(self, bound: socket.socket, owned: ExitStack) -> None:
        self._socket = bound
        self._owned = owned
        self.number: int = bound.getsockname()[1]

    def fileno(self) -> int:
        """Returns the descriptor that holds the port; a process that inherits it holds the port, too."""
        return self._socket.fileno()

    def give_away(self) -> int:
        """Returns the descriptor, which is the caller's to close from now on (`let_go`)."""
        return self._socket.detach()

    def hand_over(self) -> None:
        """Leaves the holding to the process that inherited the descriptor; other nodes still keep off."""
        self._socket.close()

    def release(self) -> None:
        """Lets go of the port."""
        self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def hold_port(ports: Sequence[int] = ANY_PORT) -> HeldPort:
    """Returns the first of these ports that is free, held; 0 stands for any free one.

    Raises:
        PortsTaken: None of them is free on this host.
    """
    for port in ports:
        for _ in range(1 if port else _TRIES):
            held = _hold(port)
            if held is not None:
                return held
    raise PortsTaken(socket.gethostname(), tuple(ports))


def is_listened_at(port: int) -> bool:
    """Tells whether a process listens at a port of this host, in the network that this process sees.

    Linux knows; an attempt to take the port would also fail for connections that linger after their server.
    """
    return any(_listens(table, port) for table in _TABLES)


def let_go(descriptor: int, inode: int) -> None:
    """Closes a descriptor that holds a port; it may have been closed before, and be something else by now.

    Args:
        descriptor: Its number.
        inode: That of the socket, by which it is known.
    """
    try:
        found = os.fstat(descriptor)
    except OSError:  # closed, or never there
        return
    if stat.S_ISSOCK(found.st_mode) and found.st_ino == inode:
        os.close(descriptor)


def parse_ports(text: str) -> tuple[int, ...]:
    """Returns the ports of a setting: ``8000``, ``8000-8010`` or ``8000,8005``; in order, none twice.

    Raises:
        InvalidPorts: It is none of these.
    """
    ports: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) > _LAST_PORT:
            raise InvalidPorts(text)
        ports += range(int(first), int(last or first) + 1)
    if not ports:
        raise InvalidPorts(text)
    return check_ports(ports)


def check_ports(ports: Sequence[int]) -> tuple[int, ...]:
    """Returns ports that can be tried, none twice.

    Raises:
        InvalidPorts: There are none, or one that is no port.
    """
    if not isinstance(ports, Iterable):
        raise InvalidPorts(repr(ports))
    numbers = tuple(dict.fromkeys(ports))
    if not numbers or not all(type(port) is int and 0 <= port <= _LAST_PORT for port in numbers):
        raise InvalidPorts(reprlib.repr(ports))
    return numbers


def _hold(port: int) -> HeldPort | None:
    with ExitStack() as owned:
        bound = owned.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        if port:
            # connections of the last run may linger for a minute; one that listens is not let in by this
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(("", port))
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            return None
        if not _claim(bound.getsockname()[1], owned):
            return None
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        return HeldPort(bound, owned.pop_all())


def _listens(table: str, port: int) -> bool:
    try:
        with open(table, encoding="ascii") as lines:
            entries = [line.split() for line in lines][1:]
    except FileNotFoundError:  # no IPv6, or no Linux
        return False
    return any(entry[3] == _LISTENING and int(entry[1].rpartition(":")[2], 16) == port for entry in entries)


def _claim(port: int, owned: ExitStack) -> bool:
    """Makes a port ours among nodes, whose sockets would let each other in.

    An abstract socket is known to whoever shares the network, whatever files he sees, and goes with its process.
    """
    name = owned.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    try:
        name.bind(f"\0hopyard-port-{port}")
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        return False
    return True
