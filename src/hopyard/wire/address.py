"""The address of this machine that its peers can reach."""

from __future__ import annotations

import errno
import fcntl
import ipaddress
import os
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from hopyard.errors import NoSuchAddress

_SIOCGIFADDR = 0x8915
_SIOCGIFFLAGS = 0x8913
_IFF_UP = 0x1
_IFF_LOOPBACK = 0x8
_IFREQ_BYTES = 256
_DISCARD_PORT = 9  # a UDP connect needs some port; nothing is sent to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One network interface that is up, with its first IPv4 address."""

    name: str
    address: str
    loopback: bool


def routable_address(
    network: str | None = None, peer: str | None = None, *, environ: Mapping[str, str] | None = None
) -> str:
    """Returns the address of this machine that servers bind to and peers connect to.

    The first of these that is given decides: `network`, the variable HOPYARD_NETWORK, `peer`, the
    variable SPARK_LOCAL_IP. Without any, it is the address of the host name if this machine has that
    address and it is not a loopback one, else that of the first interface, else 127.0.0.1. Nothing is
    sent over the network.

    Args:
        network: An interface ("eth0"), an address of this machine, or a network ("10.0.0.0/8").
        peer: A host that the address has to reach; the routing table picks the address.
        environ: The environment to read, by default that of this process.

    Raises:
        NoSuchAddress: Nothing on this machine matches; the text lists what there is.
    """
    environ = os.environ if environ is None else environ
    wanted = network or environ.get("HOPYARD_NETWORK")
    if wanted:
        return _matching(wanted)
    if peer:
        return _towards(peer)
    if spark := environ.get("SPARK_LOCAL_IP"):
        return _matching(spark)
    return _of_host_name() or _of_first_interface() or "127.0.0.1"


def interfaces() -> list[Interface]:
    """Returns the interfaces of this machine that are up and have an IPv4 address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        found = [_interface(probe, name) for _, name in socket.if_nameindex()]
    return [interface for interface in found if interface is not None]


def _interface(probe: socket.socket, name: str) -> Interface | None:
    request = struct.pack(f"{_IFREQ_BYTES}s", os.fsencode(name))
    try:
        (flags,) = struct.unpack_from("H", fcntl.ioctl(probe.fileno(), _SIOCGIFFLAGS, request), 16)
        address = socket.inet_ntoa(fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)[20:24])
    except OSError as error:
        # no IPv4 address, or the interface went away since it was listed
        if error.errno in (errno.EADDRNOTAVAIL, errno.ENODEV):
            return None
        raise
    if not flags & _IFF_UP:
        return None
    return Interface(name=name, address=address, loopback=bool(flags & _IFF_LOOPBACK))


def _matching(wanted: str) -> str:
    present = interfaces()
    for interface in present:
        if interface.name == wanted:
            return interface.address
    try:
        network = ipaddress.ip_network(wanted, strict=False)
    except ValueError:
        raise NoSuchAddress(wanted, _listing(present)) from None
    if network.num_addresses == 1 and _is_local(str(network.network_address)):
        return str(network.network_address)
    for interface in present:
        if ipaddress.ip_address(interface.address) in network:
            return interface.address
    raise NoSuchAddress(wanted, _listing(present))


def _towards(peer: str) -> str:
    try:
        family, _, _, _, target = socket.getaddrinfo(peer, _DISCARD_PORT, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(target)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise NoSuchAddress(f"a way to {peer} ({error})", _listing(interfaces())) from error


def _of_host_name() -> str | None:
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        # a host name that does not resolve is common in containers and no reason to fail
        return None
    usable = not ipaddress.ip_address(address).is_loopback and _is_local(address)
    return address if usable else None


def _of_first_interface() -> str | None:
    return next((interface.address for interface in interfaces() if not interface.loopback), None)


def _is_local(address: str) -> bool:
    if ipaddress.ip_address(address).is_unspecified:
        return False
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                return False
            raise
    return True


def _listing(present: list[Interface]) -> str:
    return (
        ", ".join(f"{interface.name} {interface.address}" for interface in present)
        or "no interface that is up"
    )
