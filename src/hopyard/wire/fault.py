"""Errors on their way over the wire: what a server says of a failure, and what a client makes of it.

A failed exchange ends with a Flight error whose detail is a small JSON object made here. Anything else
that pyarrow raises is about the connection. A server's stack trace stays in the log of the server.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow
from pyarrow import flight

from hopyard.codec.json_value import Json
from hopyard.errors import (
    HopyardError,
    InvalidMessage,
    MessageTooLarge,
    NotAuthenticated,
    PeerGone,
    PeerNotTrusted,
    RemoteError,
    UnknownMethod,
    WireTimeout,
)
from hopyard.wire.message import decode, encode

_LOG = logging.getLogger(__name__)

FLIGHT_ERRORS = (flight.FlightError, pyarrow.ArrowException, OSError)
"""Whatever a call into Flight may raise; some of its failures come out as plain OSError."""

# The detail travels in HTTP/2 trailers, of which gRPC takes 8 KiB in all, in base64.
_DETAIL_BYTES = 4096
_TEXT_CHARACTERS = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One exchange as errors speak of it: with whom, what, and how long it may take."""

    peer: str
    doing: str
    seconds: float
    setting: str


@contextmanager
def answering(doing: str) -> Iterator[None]:
    """Lets errors of a service reach the client as a type and a text, and the log as a whole.

    Raises:
        flight.FlightServerError: With the detail from which `error_of` makes the client's error.
    """
    try:
        yield
    except flight.FlightError:
        raise
    except HopyardError as error:
        # about the client, or raised on purpose: a stack trace would tell nothing
        _LOG.warning("could not %s: %s", doing, error)
        raise _failed(error) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- see below
        # the edge of a server process: whatever a service raises must not reach pyarrow, which would
        # send the stack trace to the client
        _LOG.exception("failed to %s", doing)
        raise _failed(error) from None


def stopped_early(reply: Mapping[str, Json], *, doing: str) -> flight.FlightServerError:
    """Returns the error that ends a stream whose receiver has had enough, with the receiver's reply."""
    body = encode(reply, doing=f"{doing}, stopped early", limit=_DETAIL_BYTES - 64)
    return flight.FlightServerError("stopped early", b'{"early":' + body + b"}")


def early_reply(error: Exception) -> dict[str, Json] | None:
    """Returns the reply of a receiver that stopped early, or None if this is a failure."""
    reply = _detail(error).get("early")
    return reply if isinstance(reply, dict) else None


def error_of(error: Exception, exchange: Exchange) -> HopyardError:
    """Returns the typed error for what pyarrow raised during an exchange."""
    match _detail(error):
        case {"type": "UnknownMethod", "fields": [str(name)]}:
            return UnknownMethod(name)
        case {"type": "InvalidMessage", "fields": [str(doing), str(reason)]}:
            return InvalidMessage(doing, reason)
        case {"type": "MessageTooLarge", "fields": [str(doing), int(size), int(limit)]}:
            return MessageTooLarge(doing, size, limit)
        case {"type": str(kind), "text": str(text)}:
            return RemoteError(exchange.peer, exchange.doing, kind, text)
    return _connection_error(error, exchange)


def _connection_error(error: Exception, exchange: Exchange) -> HopyardError:
    peer, doing = exchange.peer, exchange.doing
    text = str(error)
    if isinstance(error, flight.FlightTimedOutError):
        return WireTimeout(peer, doing, exchange.seconds, exchange.setting)
    if isinstance(error, flight.FlightUnauthenticatedError):
        return NotAuthenticated(peer, doing)
    # the two TLS libraries that pyarrow is built with write it differently
    if "certificate verify failed" in text.lower().replace("_", " "):
        return PeerNotTrusted(peer, doing)
    return PeerGone(peer, doing, _gist(text))


def _gist(text: str) -> str:
    # pyarrow wraps the message of gRPC into one of its own and appends a debug context
    message = text.partition(". gRPC client debug context:")[0].partition("\n")[0]
    return (message.partition("with message: ")[2] or message)[:_TEXT_CHARACTERS].rstrip(".")


def _failed(error: BaseException) -> flight.FlightServerError:
    detail: dict[str, Json] = {"type": type(error).__name__, "text": str(error)[:_TEXT_CHARACTERS]}
    if isinstance(error, UnknownMethod | InvalidMessage | MessageTooLarge):
        detail["fields"] = [
            field[:_TEXT_CHARACTERS] if isinstance(field, str) else field for field in error.args
        ]
    # ensure_ascii, since a text may hold what UTF-8 cannot
    return flight.FlightServerError("the service failed", json.dumps(detail).encode())


def _detail(error: Exception) -> dict[str, Json]:
    raw = getattr(error, "extra_info", b"")
    if not raw:
        return {}
    try:
        return decode(raw, doing="error detail", limit=2 * _DETAIL_BYTES)
    except (InvalidMessage, MessageTooLarge):
        # a peer that is not Hopyard may put anything there; the error itself is then all there is
        return {}
