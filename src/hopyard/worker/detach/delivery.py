"""The way of a node's outcome to the driver over the wire, for nodes that have no Spark task to return it."""

from __future__ import annotations

import hashlib
import hmac
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import pyarrow

from hopyard.codec.records import decode, encode_line
from hopyard.errors import DriverOutOfReach, ForgedOutcome, InvalidMessage, UnknownMethod
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
        key: What only the driver and its supervisors have; it never goes over the wire.
        patience: Seconds that an answer of the driver may take, not counting the transfer.
        retry_seconds: When to try again after the driver was out of reach.
    """

    def __init__(
        self,
        link: WireClient,
        rank: int,
        *,
        incarnation: str,
        key: bytes,
        patience: float = 30.0,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._link = link
        self._stream = f"{_STREAM}/{rank}/{incarnation}"
        self._key = key
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
                    to_batches(outcome, self._stream, self._key),
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


def to_batches(outcome: Outcome, stream: str, key: bytes) -> Iterator[pyarrow.RecordBatch]:
    """Yields an outcome as record batches: the record first, then its mark, then the value in chunks."""
    record, value = encode_line(outcome.record), memoryview(outcome.value or b"")
    yield _batch(record)
    yield _batch(_mark(key, stream, record, value))
    for start in range(0, len(value), CHUNK_BYTES):
        yield _batch(value[start : start + CHUNK_BYTES])


def from_batches(batches: Iterable[pyarrow.RecordBatch], stream: str, key: bytes) -> Outcome:
    """Returns the outcome in record batches that came in a stream, if one of the driver's own supervisors has sent it.

    The driver unpickles the value later on, so whoever could forge one could run code in the driver. The token of the
    wire is no proof: it is in every message.

    Raises:
        InvalidMessage: There is none in them.
        ForgedOutcome: It was not marked with this key, or for this stream.
        CorruptRecord: The first one holds no record.
    """
    source = f"the outcome of node {sender_of(stream)[0]}"
    match [chunk.as_buffer() for batch in batches for chunk in batch.column(0)]:
        case [record, mark, *chunks]:
            value = b"".join(chunks)
        case _:
            raise InvalidMessage(source, "an outcome without a record")
    expected = _mark(key, stream, record.to_pybytes(), value)
    if not key or not hmac.compare_digest(mark.to_pybytes(), expected):
        raise ForgedOutcome(source)
    # a pickle is never empty, so no chunk means no value
    return Outcome(record=decode(NodeOutcome, record.to_pybytes(), source), value=value or None)


def sender_of(stream: str) -> tuple[int, str]:
    """Returns the rank and the life of the node that a stream of this name comes from.

    Raises:
        UnknownMethod: It is no stream for an outcome.
    """
    match stream.split("/"):
        case [name, rank, incarnation] if name == _STREAM and rank.isdecimal():
            return int(rank), incarnation
    raise UnknownMethod(stream)


def _mark(key: bytes, stream: str, record: bytes, value: bytes | memoryview) -> bytes:
    """Returns what only those can make who have the key."""
    mark = hmac.new(key, digestmod=hashlib.sha256)
    for part in (stream.encode(), record):
        mark.update(struct.pack("=Q", len(part)))
        mark.update(part)
    mark.update(value)
    return mark.digest()


def _batch(data: bytes | memoryview) -> pyarrow.RecordBatch:
    # pyarrow.array would copy the data, and load pandas before that
    offsets = pyarrow.py_buffer(struct.pack("=ii", 0, len(data)))
    chunk = pyarrow.Array.from_buffers(pyarrow.binary(), 1, [None, offsets, pyarrow.py_buffer(data)])
    return pyarrow.RecordBatch.from_arrays([chunk], schema=SCHEMA)
