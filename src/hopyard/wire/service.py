"""What a server serves."""

# ruff: noqa: ARG002 -- the defaults of Service refuse whatever they are given

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Protocol

import pyarrow
from pyarrow import flight

from hopyard.codec.json_value import Json
from hopyard.errors import InvalidMessage, PeerGone, UnknownMethod
from hopyard.wire.tagged import Tagged, tagged_item

END_OF_STREAM = b"end"
"""Last message of a complete stream. gRPC ends a stream the same way whether its sender was done or
died, so that only an explicit end tells the two apart."""


def label_of(stream: str) -> str:
    """Returns what errors and logs call a stream: the part of its name before a question mark."""
    return stream.partition("?")[0]


def is_end(chunk: flight.FlightStreamChunk) -> bool:
    """Tells whether a chunk is the mark that its stream is complete."""
    return bool(
        chunk.data is None
        and chunk.app_metadata is not None
        and chunk.app_metadata.to_pybytes() == END_OF_STREAM
    )


class Batches(Protocol):
    """Record batches of one schema, some perhaps with tags; such as a `pyarrow.RecordBatchReader`."""

    @property
    def schema(self) -> pyarrow.Schema:
        """The schema of every batch."""

    def __iter__(self) -> Iterator[pyarrow.RecordBatch | Tagged]: ...


class BatchReader:
    """The record batches that a client pours, as they arrive.

    Iteration takes one batch at a time off the wire: a slow consumer slows the client down. A consumer
    may stop at any batch; the client then stops pouring and gets the reply of the service.

    Attributes:
        doing: What is going on, in the words of errors and logs: "receive train".
    """

    def __init__(self, reader: flight.MetadataRecordBatchReader, *, peer: str, doing: str) -> None:
        self.doing = doing
        self._reader = reader
        self._peer = peer
        self._complete = False

    @property
    def schema(self) -> pyarrow.Schema:
        """The schema of every batch."""
        return self._reader.schema

    @property
    def complete(self) -> bool:
        """Whether the client has poured everything and it has all been read."""
        return self._complete

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        """Yields the batches.

        Raises:
            PeerGone: The client went away before it was done.
            InvalidMessage: What came is not a record batch.
        """
        for item in self.tagged():
            yield item.batch

    def tagged(self) -> Iterator[Tagged]:
        """Yields the batches with their tags; raises as iteration does."""
        while not self._complete:
            chunk = self._next_chunk()
            if is_end(chunk):
                self._complete = True
            elif chunk.data is not None:
                yield tagged_item(chunk)

    def discard(self) -> None:
        """Reads on without looking, until the client is done or gone."""
        # a client that is gone wants nothing more, and one that sends nonsense neither
        with suppress(PeerGone, InvalidMessage):
            for _ in self:
                continue

    def _next_chunk(self) -> flight.FlightStreamChunk:
        try:
            chunk = self._reader.read_chunk()
            if chunk.data is not None:
                chunk.data.validate()
        except StopIteration:
            raise PeerGone(self._peer, self.doing, "the stream broke off before its end") from None
        except (pyarrow.ArrowException, OSError) as error:
            raise InvalidMessage(self.doing, f"not a record batch: {error}") from None
        return chunk


class Service(Protocol):
    """The methods and streams behind a `WireServer`.

    Subclass it and override what is served; the rest answers `UnknownMethod`. Methods run in threads of
    the server, several at a time. What they raise reaches the client as `RemoteError` with the type and
    the text, and the log of this process with its stack trace.
    """

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Returns the answer to a control message."""
        raise UnknownMethod(method)

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        """Consumes what a client pours into `stream` and returns the final reply."""
        raise UnknownMethod(stream)

    def send(self, stream: str) -> Batches:
        """Returns the batches of `stream`, which the client draws one at a time."""
        raise UnknownMethod(stream)

    def exchange(self, stream: str, batches: BatchReader) -> Batches:
        """Returns the answers to what a client pours into `stream`, drawn while it is still pouring."""
        raise UnknownMethod(stream)
