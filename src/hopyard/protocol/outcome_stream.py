"""What came of a node, as record batches on their way to the driver, with a mark that only its own supervisors can make."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterable, Iterator

import pyarrow

from hopyard.codec.records import decode, encode_line
from hopyard.errors import ForgedOutcome, InvalidMessage, UnknownMethod
from hopyard.protocol.outcome import Outcome
from hopyard.tracking import NodeOutcome

CHUNK_BYTES = 1 << 20
SCHEMA = pyarrow.schema([("chunk", pyarrow.binary())])
_STREAM = "outcome"


def stream_name(rank: int, incarnation: str) -> str:
    """Returns the name of the stream in which a node's process brings its outcome."""
    return f"{_STREAM}/{rank}/{incarnation}"


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
