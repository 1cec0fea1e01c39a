"""Record batches on their way from a client to a server."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

import pyarrow
from pyarrow import flight

from hopyard.errors import SchemaMismatch
from hopyard.wire.fault import FLIGHT_ERRORS, Exchange
from hopyard.wire.service import END_OF_STREAM
from hopyard.wire.tagged import Tagged, write_item


def pour(
    writer: flight.FlightStreamWriter,
    schema: pyarrow.Schema,
    batches: Iterable[pyarrow.RecordBatch | Tagged],
    *,
    doing: str,
) -> Exception | None:
    """Writes all batches and the mark that the stream is complete; blocks while the server is slower.

    Returns:
        The error of Flight that ended the stream before, or None. It is not raised, so that it is not
        taken for an error of `batches`.

    Raises:
        SchemaMismatch: A batch has another schema.
    """
    for item in batches:
        found = item.batch.schema if isinstance(item, Tagged) else item.schema
        if not found.equals(schema):
            raise SchemaMismatch(doing, _columns(schema), _columns(found))
        try:
            write_item(writer, item)
        except FLIGHT_ERRORS as error:
            return error
    try:
        # Nothing may be written after this, not even the end of writing: the server can end the call as
        # soon as it has the mark, and a write that fails makes Flight throw away what has not been read.
        writer.write_metadata(END_OF_STREAM)
    except FLIGHT_ERRORS as error:
        return error
    return None


def break_off(writer: flight.FlightStreamWriter) -> None:
    """Ends a stream without the mark, which tells the server that it is not complete."""
    # the call may have ended by itself, and then there is nobody to tell
    with suppress(*FLIGHT_ERRORS):
        writer.close()


class Pouring:
    """Pours in a thread of its own, so that the answers can be drawn meanwhile.

    Attributes:
        error: What `batches` raised, if it did. The server has then seen an incomplete stream.
    """

    def __init__(
        self,
        writer: flight.FlightStreamWriter,
        schema: pyarrow.Schema,
        batches: Iterable[pyarrow.RecordBatch | Tagged],
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

    def _run(self, schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch | Tagged]) -> None:
        try:
            # what Flight reports here, the drawing side meets too, and knows better what it means
            pour(self._writer, schema, batches, doing=self._exchange.doing)
        except Exception as error:  # noqa: BLE001 -- the edge of a thread: the drawing side raises it
            self.error = error
            # a call that has ended by itself needs no end of writing
            with suppress(*FLIGHT_ERRORS):
                self._writer.done_writing()
        # Closing would wait for the drawing side and throw away what that has not drawn. After its
        # deadline the exchange is over anyway.
        self._drawn.wait(self._exchange.seconds)
        break_off(self._writer)


def _columns(schema: pyarrow.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)
