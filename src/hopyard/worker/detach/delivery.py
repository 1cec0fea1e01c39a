"""The way of a node's outcome to the driver over the wire, for nodes that have no Spark task to return it."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import pyarrow

from hopyard.codec.records import decode, encode_line
from hopyard.errors import DriverOutOfReach, InvalidMessage, UnknownMethod
from hopyard.protocol.outcome import Outcome
from hopyard.tracking import NodeOutcome
from hopyard.wire import WireClient
from hopyard.worker.lease import OUT_OF_REACH, RETRY_SECONDS

CHUNK_BYTES = 1 << 20
SLOWEST_BYTES_PER_SECOND = 1 << 20
SCHEMA = pyarrow.schema([("chunk", pyarrow.binary())])
_STREAM = "outcome"


class OutcomeSender:
    """Brings the outcome of one node to its driver.

    Args:
        link: The way to the driver.
        rank: The node.
        incarnation: What tells its process from another one that was started as the same node.
        patience: Seconds that an answer of the driver may take, not counting the transfer.
        retry_seconds: When to try again after the driver was out of reach.
    """

    def __init__(
        self,
        link: WireClient,
        rank: int,
        *,
        incarnation: str,
        patience: float = 30.0,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._link = link
        self._stream = f"{_STREAM}/{rank}/{incarnation}"
        self._patience = patience
        self._retry_seconds = retry_seconds

    def deliver(self, outcome: Outcome, *, as_long_as: Callable[[], bool]) -> None:
        """Returns when the driver has the outcome, whatever its size.

        Args:
            outcome: What came of the node.
            as_long_as: Tells whether it is worth trying: whether the driver may come back.

        Raises:
            DriverOutOfReach: The driver is gone.
            HopyardError: The driver did not take it.
        """
        size = len(outcome.value or b"")
        cause = "it was silent for too long"
        while as_long_as():
            try:
                self._link.put(
                    self._stream,
                    SCHEMA,
                    to_batches(outcome),
                    timeout=self._patience + size / SLOWEST_BYTES_PER_SECOND,
                )
            except OUT_OF_REACH as error:
                cause = str(error)
                threading.Event().wait(self._retry_seconds)
            else:
                return
        raise DriverOutOfReach(self._link.endpoint.peer, cause)


def within(seconds: float, clock: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    """Returns what is true for some seconds from now on."""
    end = clock() + seconds
    return lambda: clock() < end


def to_batches(outcome: Outcome) -> Iterator[pyarrow.RecordBatch]:
    """Yields an outcome as record batches: the record first, then the value in chunks."""
    yield _batch(encode_line(outcome.record))
    value = memoryview(outcome.value or b"")
    for start in range(0, len(value), CHUNK_BYTES):
        yield _batch(value[start : start + CHUNK_BYTES])


def from_batches(batches: Iterable[pyarrow.RecordBatch], source: str) -> Outcome:
    """Returns the outcome in record batches that came from somewhere.

    Raises:
        InvalidMessage: There is none in them.
        CorruptRecord: The first one holds no record.
    """
    record, *value = [chunk.as_buffer() for batch in batches for chunk in batch.column(0)] or [None]
    if record is None:
        raise InvalidMessage(source, "an outcome without a record")
    # a pickle is never empty, so no chunk means no value
    return Outcome(
        record=decode(NodeOutcome, record.to_pybytes(), source), value=b"".join(value) if value else None
    )


def sender_of(stream: str) -> tuple[int, str]:
    """Returns the rank and the life of the node that a stream of this name comes from.

    Raises:
        UnknownMethod: It is no stream for an outcome.
    """
    match stream.split("/"):
        case [name, rank, incarnation] if name == _STREAM and rank.isdecimal():
            return int(rank), incarnation
    raise UnknownMethod(stream)


def _batch(data: bytes | memoryview) -> pyarrow.RecordBatch:
    # pyarrow.array would copy the data, and load pandas before that
    offsets = pyarrow.py_buffer(struct.pack("=ii", 0, len(data)))
    chunk = pyarrow.Array.from_buffers(pyarrow.binary(), 1, [None, offsets, pyarrow.py_buffer(data)])
    return pyarrow.RecordBatch.from_arrays([chunk], schema=SCHEMA)
