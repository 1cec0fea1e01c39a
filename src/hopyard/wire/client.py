"""A client of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

import pyarrow
from pyarrow import flight

from hopyard.codec.json_value import Json
from hopyard.errors import InvalidMessage, PeerGone
from hopyard.wire.endpoint import Endpoint
from hopyard.wire.fault import FLIGHT_ERRORS, Exchange, early_reply, error_of
from hopyard.wire.message import MAX_MESSAGE_BYTES, decode, encode
from hopyard.wire.pour import Pouring, break_off, pour
from hopyard.wire.quiet import quiet_grpc
from hopyard.wire.service import label_of
from hopyard.wire.stream import AnswerStream, BatchStream
from hopyard.wire.tagged import Tagged

# How gRPC is to behave; the names are its own.
_CHANNEL = [
    # cluster machines often have an http_proxy, which knows nothing of addresses inside the cluster
    ("grpc.enable_http_proxy", 0),
    # a connection per client: streams do not share the window of one connection
    ("grpc.use_local_subchannel_pool", 1),
    # after a failure, try again soon; the default grows to two minutes
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # Despite its name, how long making a connection may take: a server that a thousand clients call at once
    # needs some seconds for the last of them.
    ("grpc.min_reconnect_backoff_ms", 10_000),
    # A peer whose machine vanished acknowledges nothing: give up after this long. The interval cannot
    # be shorter, since servers cut clients that ping more often than every five minutes.
    ("grpc.keepalive_time_ms", 301_000),
    ("grpc.keepalive_timeout_ms", 10_000),
]


class WireClient:
    """Talks to the server at an endpoint; threads may share it.

    The connection is made with the first call and again after a failure. No call is ever repeated.

    Args:
        endpoint: The server.
        timeout: Seconds that a control message and its answer may take.
        stream_timeout: Seconds that a whole stream may take.
        max_message_bytes: Largest control message that is sent or taken.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float = 10.0,
        stream_timeout: float = 3600.0,
        max_message_bytes: int = MAX_MESSAGE_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self._timeout = timeout
        self._stream_timeout = stream_timeout
        self._limit = max_message_bytes
        self._headers = [(b"authorization", f"Bearer {endpoint.token}".encode())]
        with quiet_grpc():
            self._flight = flight.FlightClient(
                endpoint.uri, tls_root_certs=endpoint.certificate, generic_options=_CHANNEL
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def close(self) -> None:
        """Drops the connection."""
        self._flight.close()

    def call(
        self, method: str, message: Mapping[str, Json], *, timeout: float | None = None
    ) -> dict[str, Json]:
        """Returns the server's answer to a control message.

        Raises:
            PeerGone: The server cannot be reached, or went away before it answered.
            WireTimeout: The answer took longer than `timeout` seconds.
            RemoteError: The service raised.
            UnknownMethod: The service has no such method.
            InvalidMessage: The message, or the answer, is not a JSON object.
            MessageTooLarge: The message, or the answer, is over the limit.
            NotAuthenticated: The server did not accept the token.
            PeerNotTrusted: The server is not the one of the endpoint.
        """
        exchange = self._exchange(f"call {method}", timeout)
        body = encode(message, doing=exchange.doing, limit=self._limit)
        try:
            results = list(self._flight.do_action((method, body), self._options(exchange)))
        except FLIGHT_ERRORS as error:
            raise error_of(error, exchange) from None
        if len(results) != 1:
            raise InvalidMessage(exchange.doing, f"the answer has {len(results)} parts")
        return decode(memoryview(results[0].body), doing=exchange.doing, limit=self._limit)

    def put(
        self,
        stream: str,
        schema: pyarrow.Schema,
        batches: Iterable[pyarrow.RecordBatch | Tagged],
        *,
        timeout: float | None = None,
    ) -> dict[str, Json]:
        """Pours batches into a stream as fast as the server takes them and returns its reply.

        The server may stop early: pouring then ends and the reply is returned all the same. If `batches`
        raises, the server learns that the stream is not complete and the error goes on to the caller.

        Raises:
            PeerGone, WireTimeout, RemoteError, UnknownMethod, MessageTooLarge, NotAuthenticated,
            PeerNotTrusted: As for `call`.
            SchemaMismatch: A batch has another schema.
        """
        exchange = self._stream_exchange(f"put {label_of(stream)}", timeout)
        descriptor = flight.FlightDescriptor.for_path(stream)
        try:
            writer, reader = self._flight.do_put(descriptor, schema, self._options(exchange))
        except FLIGHT_ERRORS as error:
            raise error_of(error, exchange) from None
        try:
            broken = pour(writer, schema, batches, doing=exchange.doing)
        except BaseException:
            break_off(writer)
            raise
        return self._reply(writer, reader, broken, exchange)

    def get(self, stream: str, *, timeout: float | None = None) -> BatchStream:
        """Returns the batches of a stream, drawn from the server as they are iterated.

        Raises:
            PeerGone, WireTimeout, RemoteError, UnknownMethod, NotAuthenticated, PeerNotTrusted: As for
                `call`, here or while iterating.
        """
        exchange = self._stream_exchange(f"get {label_of(stream)}", timeout)
        try:
            reader = self._flight.do_get(flight.Ticket(stream.encode()), self._options(exchange))
        except FLIGHT_ERRORS as error:
            raise error_of(error, exchange) from None
        return BatchStream(reader, exchange)

    def exchange(
        self,
        stream: str,
        schema: pyarrow.Schema,
        batches: Iterable[pyarrow.RecordBatch | Tagged],
        *,
        timeout: float | None = None,
    ) -> BatchStream:
        """Returns the batches that a stream answers with, while a thread pours `batches` into it.

        If `batches` raises, so does the iteration over the answers.

        Raises:
            PeerGone, WireTimeout, RemoteError, UnknownMethod, NotAuthenticated, PeerNotTrusted,
            SchemaMismatch: As for `put`, here or while iterating.
        """
        exchange = self._stream_exchange(f"exchange {label_of(stream)}", timeout)
        descriptor = flight.FlightDescriptor.for_path(stream)
        try:
            writer, reader = self._flight.do_exchange(descriptor, self._options(exchange))
        except FLIGHT_ERRORS as error:
            raise error_of(error, exchange) from None
        try:
            writer.begin(schema)
        except FLIGHT_ERRORS as error:
            break_off(writer)
            raise error_of(error, exchange) from None
        return AnswerStream(reader, exchange, Pouring(writer, schema, batches, exchange))

    def _reply(
        self,
        writer: flight.FlightStreamWriter,
        reader: flight.FlightMetadataReader,
        broken: Exception | None,
        exchange: Exchange,
    ) -> dict[str, Json]:
        try:
            body = reader.read() if broken is None else None
            writer.close()
        except FLIGHT_ERRORS as error:
            broken = broken or error
        if broken is None and body is not None:
            return decode(memoryview(body), doing=exchange.doing, limit=self._limit)
        if broken is None:
            raise PeerGone(exchange.peer, exchange.doing, "the stream ended without a reply")
        reply = early_reply(broken)
        if reply is None:
            raise error_of(broken, exchange)
        return reply

    def _exchange(self, doing: str, timeout: float | None) -> Exchange:
        seconds = self._timeout if timeout is None else timeout
        return Exchange(peer=self.endpoint.peer, doing=doing, seconds=seconds, setting="timeout")

    def _stream_exchange(self, doing: str, timeout: float | None) -> Exchange:
        if timeout is not None:
            return self._exchange(doing, timeout)
        return Exchange(
            peer=self.endpoint.peer, doing=doing, seconds=self._stream_timeout, setting="stream_timeout"
        )

    def _options(self, exchange: Exchange) -> flight.FlightCallOptions:
        return flight.FlightCallOptions(timeout=exchange.seconds, headers=self._headers)
