"""Errors of the wire: peers, messages, addresses."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class PeerGone(HopyardError, ConnectionError):
    """The other end of the wire cannot be reached or went away during an exchange."""

    peer: str
    doing: str
    reason: str
    text = "{peer} is gone ({doing}): {reason}. See the log of that process for why it ended."


class PeerNotTrusted(HopyardError, ConnectionError):
    """The server shows another certificate than the one in its endpoint."""

    peer: str
    doing: str
    text = (
        "{peer} did not show the certificate of this run ({doing}): nothing was sent to it. "
        "The endpoint may belong to another run, or a proxy may be in between."
    )


class NotAuthenticated(HopyardError, PermissionError):
    """The server did not accept the token."""

    peer: str
    doing: str
    text = "{peer} did not accept the token ({doing}); the endpoint belongs to another run."


class WireTimeout(HopyardError, TimeoutError):
    """The other end of the wire did not answer in time."""

    peer: str
    doing: str
    seconds: float
    setting: str
    text = "{peer} did not finish within {seconds:g} s ({doing}); raise {setting} to wait longer."


class RemoteError(HopyardError, RuntimeError):
    """The service at the other end raised; its traceback is in the log over there."""

    peer: str
    doing: str
    kind: str
    message: str
    text = "{peer} failed ({doing}): {kind}: {message}"


class UnknownMethod(HopyardError, LookupError):
    """No service answers to this method or stream."""

    name: str
    text = "there is no method or stream {name!r}; check that both ends run the same version of Hopyard."


class InvalidMessage(HopyardError, ValueError):
    """A control message is not a JSON object."""

    doing: str
    reason: str
    text = "the message is not a JSON object ({doing}): {reason}."


class MessageTooLarge(HopyardError, ValueError):
    """A control message is larger than the wire carries."""

    doing: str
    size: int
    limit: int
    text = (
        "a control message of {size} bytes is over the limit of {limit} ({doing}); "
        "send bulk data as a stream, or raise max_message_bytes at both ends."
    )


class SchemaMismatch(HopyardError, ValueError):
    """A record batch has another schema than its stream."""

    doing: str
    expected: str
    given: str
    text = "the columns of a batch differ from those of its stream ({doing}): {given} instead of {expected}."


class NoSuchAddress(HopyardError, OSError):
    """This machine has no address of the kind that was asked for."""

    wanted: str
    available: str
    text = (
        "no address of this machine matches {wanted!r}; there is {available}. "
        "Set HOPYARD_NETWORK to an interface, an address or a network such as 10.0.0.0/8."
    )


class PortsTaken(HopyardError, OSError):
    """Every port that a server may use is in use."""

    address: str
    ports: tuple[int, ...]

    def __str__(self) -> str:
        is_range = len(self.ports) > 1 and list(self.ports) == list(range(self.ports[0], self.ports[-1] + 1))
        some = f"{self.ports[0]} to {self.ports[-1]}" if is_range else ", ".join(map(str, self.ports))
        word = "port" if len(self.ports) == 1 else "ports"
        return (
            f"no free port at {self.address} in the {word} {some}; allow more ports, or 0 for any free one."
        )
