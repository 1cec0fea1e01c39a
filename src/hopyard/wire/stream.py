"""Record batches on their way from a server to a client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import pyarrow
from pyarrow import flight

from hopyard.wire.fault import Exchange, error_of


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
        except (flight.FlightError, pyarrow.ArrowException) as error:
            raise error_of(error, self._exchange) from None

    def close(self) -> None:
        """Tells the server to stop sending."""
        self._reader.cancel()

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        while True:
            try:
                chunk = self._reader.read_chunk()
            except StopIteration:
                return
            except (flight.FlightError, pyarrow.ArrowException) as error:
                raise error_of(error, self._exchange) from None
            yield chunk.data
