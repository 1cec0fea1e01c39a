"""A worker's way to its driver: over the wire, or straight to the service where both are in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from hopyard.codec.records import from_json, to_json
from hopyard.errors import DriverOutOfReach, InvalidMessage, NotAuthenticated, PeerGone, WireTimeout
from hopyard.protocol.messages import METHOD_OF, Message

if TYPE_CHECKING:
    from hopyard.protocol.outcome import Outcome
    from hopyard.wire import Endpoint, WireClient

OUT_OF_REACH = (PeerGone, WireTimeout, NotAuthenticated)
RETRY_SECONDS = 1.0
SLOWEST_BYTES_PER_SECOND = 1 << 20
A = TypeVar("A")


class Link(Protocol):
    """What a worker speaks to: the service of its pool, or a `WireLink` to it."""

    def ask(self, message: Message[A]) -> A:
        """Returns the answer to a message."""

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        """Brings what came of a worker."""


class Driver(Protocol):
    """How a worker reaches its driver."""

    @property
    def is_remote(self) -> bool:
        """Whether it is another process, which may vanish."""

    def open(self, *, call_seconds: float, patience: float) -> AbstractContextManager[Link]:
        """Returns a link while the context is open.

        Args:
            call_seconds: How long an answer may take.
            patience: How long it may take to the delivery of an outcome, not counting its transfer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteDriver:
    """A driver on the wire; travels to the workers.

    Attributes:
        endpoint: Where it listens.
        outcome_key: What marks an outcome as one of its own workers'. Nobody else may have it: it is in no environment and
            on no wire.
    """

    endpoint: Endpoint
    outcome_key: bytes = field(repr=False)

    is_remote = True

    @contextmanager
    def open(self, *, call_seconds: float, patience: float) -> Iterator[WireLink]:
        """Gives a link over a connection of its own."""
        from hopyard.wire import WireClient

        with WireClient(self.endpoint, timeout=call_seconds) as client:
            yield WireLink(client, self.outcome_key, patience=patience)


@dataclass(frozen=True, slots=True)
class DriverAtHand:
    """A driver in this very process."""

    service: Link

    is_remote = False

    @contextmanager
    def open(self, *, call_seconds: float, patience: float) -> Iterator[Link]:  # noqa: ARG002  no call goes out
        """Gives the service itself."""
        yield self.service


class WireLink:
    """A link over the wire.

    Args:
        client: The connection.
        outcome_key: See `RemoteDriver`.
        patience: Seconds that the driver may take to answer an outcome, not counting the transfer.
    """

    def __init__(self, client: WireClient, outcome_key: bytes = b"", *, patience: float = 30.0) -> None:
        self._client = client
        self._outcome_key = outcome_key
        self._patience = patience

    def ask(self, message: Message[A]) -> A:
        """Returns the driver's answer.

        Raises:
            PeerGone, WireTimeout, NotAuthenticated: It cannot be reached.
            HopyardError: It did not answer as it should.
        """
        method = METHOD_OF[type(message)]
        answer = self._client.call(method.name, to_json(message))
        try:
            told = from_json(method.answer, answer)
        except ValueError as error:
            raise InvalidMessage(f"the answer to {method.name}", str(error)) from error
        return told  # type: ignore[return-value]  # METHODS says which answer goes with which message

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        """Brings what came of a worker, whatever its size; raises as `ask` does."""
        from hopyard.protocol.outcome_stream import SCHEMA, stream_name, to_batches

        stream = stream_name(number, incarnation)
        transfer = len(outcome.value or b"") / SLOWEST_BYTES_PER_SECOND
        batches = to_batches(outcome, stream, self._outcome_key)
        self._client.put(stream, SCHEMA, batches, timeout=self._patience + transfer)


def deliver(
    link: Link,
    number: int,
    incarnation: str,
    outcome: Outcome,
    *,
    as_long_as: Callable[[], bool],
    retry_seconds: float = RETRY_SECONDS,
) -> None:
    """Returns when the driver has an outcome.

    Args:
        link: The way to it.
        number: Whose outcome.
        incarnation: That of its process.
        outcome: What came of it.
        as_long_as: Tells whether it is worth trying: whether the driver may come back.
        retry_seconds: When to try again after it was out of reach.

    Raises:
        DriverOutOfReach: The driver is gone.
        HopyardError: It did not take the outcome.
    """
    peer, cause = "its address", "it was silent for too long"
    while as_long_as():
        try:
            link.deliver(number, incarnation, outcome)
        except OUT_OF_REACH as error:
            peer, cause = error.peer, str(error)
            threading.Event().wait(retry_seconds)  # the lease, or whatever as_long_as looks at, sets the end
        else:
            return
    raise DriverOutOfReach(peer, cause)


def within(seconds: float, clock: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    """Returns what is true for some seconds from now on."""
    end = clock() + seconds
    return lambda: clock() < end
