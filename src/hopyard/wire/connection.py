"""The TCP connections of a server in this process."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def sever(address: str, port: int) -> int:
    """Cuts every connection that was accepted at `address` and `port`, and returns how many.

    Arrow Flight offers no way to end calls that are under way, and its shutdown waits for them. Once
    its connection is cut, a call ends at both sides: a blocked read or write returns, and the peer sees
    `PeerGone` instead of waiting for its deadline.
    """
    return sum(_sever_if_ours(int(name), address, port) for name in os.listdir("/proc/self/fd"))


def _sever_if_ours(descriptor: int, address: str, port: int) -> bool:
    # a descriptor may be closed by another thread at any time, and most are no sockets
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as duplicate:
        if duplicate.family not in (socket.AF_INET, socket.AF_INET6) or not _is_at(duplicate, address, port):
            return False
        duplicate.getpeername()  # fails for the listening socket
        duplicate.shutdown(socket.SHUT_RDWR)
        return True
    return False


def _is_at(connection: socket.socket, address: str, port: int) -> bool:
    # gRPC listens at ::ffff:a.b.c.d for the IPv4 address a.b.c.d
    host, local_port = connection.getsockname()[:2]
    return bool(local_port == port and host.removeprefix("::ffff:") == address)
