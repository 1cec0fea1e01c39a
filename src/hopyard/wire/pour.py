"""Record batches on their way from a client to a server."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

import pyarrow
from pyarrow import flight

from hopyard.errors import SchemaMismatch
from hopyard.wire.fault import Exchange
from hopyard.wire.service import END_OF_STREAM


def pour(
    writer: flight.FlightStreamWriter,
    schema: pyarrow.Schema,
    batches: Iterable[pyarrow.RecordBatch],
    *,
    doing: str,
) -> None:
    """Writes all batches and the mark that the stream is complete; blocks while the server is slower.

    Raises:
        SchemaMismatch: A batch has another schema.
    """
    for batch in batches:
        if not batch.schema.equals(schema):
            raise SchemaMismatch(doing, _columns(schema), _columns(batch.schema))
        writer.write_batch(batch)
    # Nothing may be written after this, not even the end of writing: the server can end the call as soon
    # as it has the mark, and a write that fails makes Flight throw away what has not been read.
    writer.write_metadata(END_OF_STREAM)


class Pouring:
    """Pours in a thread of its own, so that the answers can be drawn meanwhile.

    Attributes:
        error: What `batches` raised, if it did. The server has then seen an incomplete stream.
    """

    def __init__(
        self,
        writer: flight.FlightStreamWriter,
        schema: pyarrow.Schema,
        batches: Iterable[pyarrow.RecordBatch],
        exchange: Exchange,
    ) -> None:
        self.error: Exception | None = None
        self._writer = writer
        self._exchange = exchange
        self._drawn = threading.Event()
        # a daemon, since `batches` may block for good when nobody wants them any more
        thread = threading.Thread(
            target=self._run, args=(schema, batches), name=f"hopyard-wire-{exchange.doing}", daemon=True
        )
        thread.start()

    def end(self) -> None:
        """Lets the thread end, once there are no more answers to draw."""
        self._drawn.set()

    def _run(self, schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch]) -> None:
        # an error of Flight says that the server has enough or is gone; the drawing side knows which
        with suppress(flight.FlightError, pyarrow.ArrowException):
            try:
                self._writer.begin(schema)
                pour(self._writer, schema, batches, doing=self._exchange.doing)
            except (flight.FlightError, pyarrow.ArrowException):
                raise
            except Exception as error:  # noqa: BLE001 -- the edge of a thread: the drawing side raises it
                self.error = error
                # without the mark, so that the server knows that the stream is not complete
                self._writer.done_writing()
        # closing throws away what has not been drawn; after its deadline the exchange is over anyway
        self._drawn.wait(self._exchange.seconds)
        with suppress(flight.FlightError, pyarrow.ArrowException):
            self._writer.close()


def _columns(schema: pyarrow.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)
