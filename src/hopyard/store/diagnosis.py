"""Why a server does not answer, found out with a plain connection."""

from __future__ import annotations

import socket
import urllib.request
from dataclasses import dataclass

from hopyard.store.filesystem import Server

_QUESTION = b"GET / HTTP/1.0\r\n\r\n"
# A NameNode's own words to a browser that came to the wrong port.
_NAMENODE = b"Hadoop IPC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found out about a server.

    Attributes:
        text: What is wrong; empty if the server is there and seems to be the right one.
        is_certain: Whether waiting longer is of no use.
    """

    text: str = ""
    is_certain: bool = False


def diagnose(server: Server, seconds: float) -> Diagnosis:
    """Returns what is wrong with a server, within about so many seconds, the look-up of its name not counted."""
    if _goes_through_proxy(server):
        return Diagnosis(text=f"{server} does not answer (through the proxy of this machine)")
    try:
        with socket.create_connection((server.host, server.port), timeout=seconds) as connection:
            # Behind TLS nobody answers a plain question.
            return Diagnosis() if server.proxied_as == "https" else _greet(server, connection)
    except socket.gaierror as error:
        return Diagnosis(text=f"the host of {server} is unknown", is_certain=error.errno != socket.EAI_AGAIN)
    except ConnectionRefusedError:
        return Diagnosis(text=f"nothing listens at {server} (connection refused)", is_certain=True)
    except TimeoutError:
        return Diagnosis(text=f"{server} does not answer")
    except OSError as error:
        return Diagnosis(text=f"{server} does not answer ({error.strerror or error})")


def _greet(server: Server, connection: socket.socket) -> Diagnosis:
    """Returns what a server that was reached is; each kind that we know answers a browser."""
    connection.sendall(_QUESTION)
    answer = connection.recv(4096)
    is_web = answer.startswith(b"HTTP/")
    if not answer:
        return Diagnosis(text=f"{server} closes connections without an answer")
    if (server.proxied_as and is_web) or _NAMENODE in answer:
        return Diagnosis()
    words = answer[:30].decode("ascii", "replace").strip()
    found = "a web server" if is_web else f"a server that says {words!r}"
    return Diagnosis(text=f"{server} is {found}, not {server.role}", is_certain=True)


def _goes_through_proxy(server: Server) -> bool:
    if not server.proxied_as:
        return False
    proxies = urllib.request.getproxies()
    return server.proxied_as in proxies and not urllib.request.proxy_bypass(server.host)
