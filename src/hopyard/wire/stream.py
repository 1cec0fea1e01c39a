"""Record batches on their way from a server to a client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import pyarrow
from pyarrow import flight

from hopyard.errors import HopyardError, PeerGone
from hopyard.wire.fault import FLIGHT_ERRORS, Exchange, error_of
from hopyard.wire.pour import Pouring
from hopyard.wire.service import is_end
from hopyard.wire.tagged import Tagged, tagged_item


class BatchStream:
    """Record batches that a server sends, as they are drawn; leaving its context cancels the rest."""

    def __init__(self, reader: flight.FlightStreamReader, exchange: Exchange) -> None:
        self._reader = reader
        self._exchange = exchange

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    @property
    def schema(self) -> pyarrow.Schema:
        """The schema of every batch."""
        try:
            return self._reader.schema
        except FLIGHT_ERRORS as error:
            raise error_of(error, self._exchange) from None

    def close(self) -> None:
        """Tells the server to stop sending."""
        self._reader.cancel()

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        for item in self.tagged():
            yield item.batch

    def tagged(self) -> Iterator[Tagged]:
        """Yields the batches with their tags."""
        while (chunk := self._next_chunk()) is not None:
            yield tagged_item(chunk)

    def _next_chunk(self) -> flight.FlightStreamChunk | None:
        try:
            return self._reader.read_chunk()
        except StopIteration:
            return None
        except FLIGHT_ERRORS as error:
            raise error_of(error, self._exchange) from None


class AnswerStream(BatchStream):
    """Record batches that a server answers with, while a thread pours into it.

    The answers end with a mark, after which the call is cancelled. The server must not end the call by
    itself: a client that is still writing would then lose answers that it has not drawn yet.
    """

    def __init__(self, reader: flight.FlightStreamReader, exchange: Exchange, pouring: Pouring) -> None:
        super().__init__(reader, exchange)
        self._pouring = pouring
        self._ended = False

    def close(self) -> None:
        """Tells the server to stop answering, and the thread to stop pouring."""
        self._ended = True
        super().close()
        self._pouring.end()

    def _next_chunk(self) -> flight.FlightStreamChunk | None:
        if self._ended:
            return None
        try:
            chunk = super()._next_chunk()
        except HopyardError as error:
            self.close()
            raise self._pouring.error or error from None
        if chunk is None:
            self.close()
            raise PeerGone(
                self._exchange.peer, self._exchange.doing, "the answers broke off before their end"
            )
        if is_end(chunk):
            self.close()
            return None
        return chunk
