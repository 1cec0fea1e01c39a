"""The Flight end of a server: token first, then JSON or Arrow, then the service."""

# ruff: noqa: ARG002 -- the signatures are pyarrow's

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from typing import Any, NoReturn
from urllib.parse import unquote

from pyarrow import flight

from hopyard.errors import InvalidMessage
from hopyard.wire.fault import answering, stopped_early
from hopyard.wire.message import decode, encode
from hopyard.wire.running import RunningCalls
from hopyard.wire.service import END_OF_STREAM, Batches, BatchReader, Service, label_of
from hopyard.wire.tagged import Tagged, write_item


class TokenCheck(flight.ServerMiddlewareFactory):  # type: ignore[misc]  # pyarrow has no types
    """Refuses a call without the token before Flight hands its payload to anyone."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    def start_call(self, info: flight.CallInfo, headers: dict[str, list[str | bytes]]) -> None:
        """Raises `flight.FlightUnauthenticatedError` unless the one authorization header is right."""
        given = headers.get("authorization", [])
        value = given[0] if len(given) == 1 else b""
        if isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(value, self._expected):
            raise flight.FlightUnauthenticatedError("no valid token")


class FlightHandler(flight.FlightServerBase):  # type: ignore[misc]  # pyarrow has no types
    """A Flight server that listens as soon as it is made and hands every call to a `Service`."""

    def __init__(
        self, service: Service, *, max_message_bytes: int, on_call: Callable[[str], None], **options: Any
    ) -> None:
        # before the base class starts to serve
        self._service = service
        self._limit = max_message_bytes
        self._on_call = on_call
        self._running = RunningCalls()
        super().__init__(**options)

    def interrupt(self) -> int:
        """Interrupts the service methods that are running and returns how many there are."""
        return self._running.interrupt()

    def do_action(self, context: flight.ServerCallContext, action: flight.Action) -> list[bytes]:
        """Answers one control message."""
        self._on_call(context.peer())
        doing = f"call {action.type}"
        with answering(doing), self._running.entered():
            message = decode(memoryview(action.body), doing=doing, limit=self._limit)
            reply = self._service.call(action.type, message)
            return [encode(reply, doing=doing, limit=self._limit)]

    def do_put(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.FlightMetadataWriter,
    ) -> None:
        """Lets the service consume a stream, and replies."""
        self._on_call(context.peer())
        stream, batches = _poured("receive", context, descriptor, reader)
        with answering(batches.doing), self._running.entered():
            reply = self._service.receive(stream, batches)
            if not batches.complete:
                raise stopped_early(reply, doing=batches.doing)
            writer.write(encode(reply, doing=batches.doing, limit=self._limit))

    def do_get(self, context: flight.ServerCallContext, ticket: flight.Ticket) -> flight.FlightDataStream:
        """Starts a stream that the client draws."""
        self._on_call(context.peer())
        with answering("send"):
            stream = _text(ticket.ticket)
        doing = f"send {label_of(stream)}"
        with answering(doing), self._running.entered():
            batches = self._service.send(stream)
            return flight.GeneratorStream(batches.schema, self._sending(batches, doing))

    def do_exchange(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.MetadataRecordBatchWriter,
    ) -> None:
        """Answers a stream with a stream."""
        self._on_call(context.peer())
        stream, batches = _poured("exchange", context, descriptor, reader)
        with answering(batches.doing), self._running.entered():
            answers = self._service.exchange(stream, batches)
            writer.begin(answers.schema)
            for item in answers:
                write_item(writer, item)
            writer.write_metadata(END_OF_STREAM)
            batches.discard()

    def _sending(self, batches: Batches, doing: str) -> Iterator[Any]:
        remaining = iter(batches)
        while True:
            with answering(doing), self._running.entered():
                batch = next(remaining, None)
            if batch is None:
                return
            yield (batch.batch, batch.tag) if isinstance(batch, Tagged) else batch  # as Flight wants it

    def _refuse(self, *_details: Any) -> NoReturn:
        # methods and streams are known by name; pyarrow's own refusal would send a stack trace
        raise flight.FlightServerError("not served")

    list_flights = list_actions = get_flight_info = get_schema = _refuse


def _poured(
    verb: str,
    context: flight.ServerCallContext,
    descriptor: flight.FlightDescriptor,
    reader: flight.MetadataRecordBatchReader,
) -> tuple[str, BatchReader]:
    """Returns the name of a stream that a client pours, and its batches."""
    with answering(verb):
        if not descriptor.path or len(descriptor.path) != 1:
            raise InvalidMessage(verb, "a stream has a name of one part")
        stream = _text(descriptor.path[0])
    # gRPC says "ipv4:10.0.0.1:80" or "ipv6:%5B::1%5D:80"
    peer = unquote(context.peer().partition(":")[2])
    return stream, BatchReader(reader, peer=peer, doing=f"{verb} {label_of(stream)}")


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidMessage("stream", "its name is not UTF-8") from None
