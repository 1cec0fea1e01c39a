"""A port for a node, held from before it is announced until the node's own server listens at it."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Self

from hopyard.errors import InvalidPorts, PortsTaken

ANY_PORT = (0,)
_LAST_PORT = 65535
_TAKEN = (errno.EADDRINUSE, errno.EACCES)


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
        with ExitStack() as owned:
            bound = owned.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            if port == 0:
                bound.bind(("", 0))
                _let_servers_in(bound)
                return HeldPort(bound, owned.pop_all())
            if not _claim(port, owned):
                continue
            _let_servers_in(bound)  # before bind: connections of the last run may linger for a minute
            try:
                bound.bind(("", port))
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
                continue
            return HeldPort(bound, owned.pop_all())
    raise PortsTaken(socket.gethostname(), tuple(ports))


def parse_ports(text: str) -> tuple[int, ...]:
    """Returns the ports of a setting: ``8000``, ``8000-8010`` or ``8000,8005``; in order, none twice.

    Raises:
        InvalidPorts: It is none of these.
    """
    ports: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InvalidPorts(text)
        ports += range(int(first), int(last if dash else first) + 1)
    return check_ports(ports)


def check_ports(ports: Sequence[int]) -> tuple[int, ...]:
    """Returns ports that can be tried, none twice.

    Raises:
        InvalidPorts: There are none, or one that is no port.
    """
    numbers = tuple(dict.fromkeys(ports))
    if not numbers or not all(isinstance(port, int) and 0 <= port <= _LAST_PORT for port in numbers):
        raise InvalidPorts(repr(ports))
    return numbers


def _let_servers_in(bound: socket.socket) -> None:
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)


def _claim(port: int, owned: ExitStack) -> bool:
    """Makes a port ours among the nodes of this host, whose sockets would let each other in."""
    path = Path(tempfile.gettempdir()) / f"hopyard-port-{port}"
    lock: IO[str] = owned.enter_context(path.open("a"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    if not _is_same(path, lock):  # its last owner removed it while we were opening it
        return False
    owned.callback(path.unlink, missing_ok=True)
    return True


def _is_same(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
