"""Pieces: what a partition is cut into on its way to a node, and the encodings of their rows."""

from __future__ import annotations

import itertools
import pickle
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import cloudpickle
import numpy as np
import pyarrow as pa

from hopyard.feed.ranges import Ranges
from hopyard.feed.shared_memory.buffer import Place

PIECE_BYTES = 2 << 20
FIRST_ROWS = 16
PARTS_PER_NODE = 4
MOST_ROWS = 1 << 16
ENCODING = b"hopyard.rows"
PICKLED = b"pickled"
PICKLED_SCHEMA = pa.schema(
    [pa.field("rows", pa.large_binary(), nullable=False)], metadata={ENCODING: PICKLED}
)
_TAG = struct.Struct("<QQ")
TAG_BYTES = _TAG.size
_ENDS = struct.Struct("<qq")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some consecutive rows of a partition.

    Attributes:
        batch: The rows, as columns or pickled.
        start: Number of the first row in its partition.
        rows: How many there are.
        place: Where they lie, if that is in a buffer.
    """

    batch: pa.RecordBatch
    start: int
    rows: int
    place: Place | None = None

    @property
    def tag(self) -> bytes:
        """What travels beside the batch."""
        return _TAG.pack(self.start, self.rows)

    @classmethod
    def of(cls, batch: pa.RecordBatch, tag: bytes) -> Self:
        """Returns a piece that has arrived."""
        start, rows = _TAG.unpack(tag)
        return cls(batch=batch, start=start, rows=rows)


def is_pickled(schema: pa.Schema) -> bool:
    """Tells whether batches of a schema hold pickled objects instead of columns."""
    return (schema.metadata or {}).get(ENCODING) == PICKLED


def pack(rows: list[object]) -> pa.RecordBatch:
    """Returns any objects as a batch; they are serialised together, once."""
    # classes of the driver's main program travel by value, which pickle alone cannot do
    return pickled_batch(cloudpickle.dumps(rows))


def pickled_batch(data: bytes) -> pa.RecordBatch:
    """Returns a batch that holds a pickled list, without copying it."""
    buffer = pa.py_buffer(data)
    ends = pa.py_buffer(_ENDS.pack(0, buffer.size))
    return pa.record_batch(
        [pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, buffer])], schema=PICKLED_SCHEMA
    )


def unpack(batch: pa.RecordBatch) -> list[object]:
    """Returns the objects of a batch that `pack` made."""
    rows: list[object] = pickle.loads(batch.column(0)[0].as_buffer())  # noqa: S301  signed, where it came by wire
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order of the rows within the pieces of one partition in one epoch."""

    seed: int
    epoch: int
    partition: int

    def of(self, start: int, rows: int) -> np.ndarray:
        """Returns the places of the rows of a piece."""
        numbers = [self.seed % (1 << 64), self.epoch, self.partition, start]
        return np.random.default_rng(numbers).permutation(rows)


def cut_batches(
    batches: Iterable[pa.RecordBatch],
    *,
    without: Ranges | None = None,
    order: Order | None = None,
    piece_bytes: int = PIECE_BYTES,
    nodes: int = 1,
) -> Iterator[Piece]:
    """Yields the batches of a partition in pieces, which are slices of them; leaves out some ranges of rows.

    Args:
        batches: The batches.
        without: Ranges of rows to leave out.
        order: The order of the rows in each piece; None: as they come.
        piece_bytes: About how big a piece is.
        nodes: Among how many nodes the rows are spread; see `_step`.
    """
    done = without or Ranges()
    offset = before = 0
    for batch in batches:
        parts = max(1, round(batch.nbytes / piece_bytes))
        step = _step(batch.num_rows, parts, before=before, nodes=nodes)
        before += parts
        for start, stop in done.missing(offset, offset + batch.num_rows):
            for first in range(start, stop, step):
                rows = min(step, stop - first)
                some = batch.slice(first - offset, rows)
                if order is not None:
                    some = some.take(pa.array(order.of(first, rows)))
                yield Piece(batch=some, start=first, rows=rows)
        offset += batch.num_rows


def cut_rows(
    rows: Iterable[object],
    *,
    without: Ranges | None = None,
    order: Order | None = None,
    piece_bytes: int = PIECE_BYTES,
    nodes: int = 1,
) -> Iterator[Piece]:
    """Yields the objects of a partition in pickled pieces; leaves out some ranges of rows; see `cut_batches`."""
    done = without or Ranges()
    remaining = iter(rows)
    size, offset = FIRST_ROWS, 0
    for before in itertools.count():
        some = list(itertools.islice(remaining, size))
        if not some:
            return
        step = _step(len(some), 1, before=before, nodes=nodes)
        for start, stop in done.missing(offset, offset + len(some)):
            for first in range(start, stop, step):
                last = min(first + step, stop)
                piece = _packed(some[first - offset : last - offset], first, order)
                size = _rows_for(piece_bytes, piece.batch.nbytes, piece.rows)
                yield piece
        offset += len(some)


def _step(rows: int, parts: int, *, before: int, nodes: int) -> int:
    """Returns how many rows of a batch make a piece; all pieces of it are about as big.

    The first batches of a partition are cut into more parts if there are several nodes: a piece is then at most a
    quarter of what each node has got so far. So nodes get about the same, wherever the partition ends.

    Args:
        rows: How many rows the batch has.
        parts: Into how many parts its size has it cut.
        before: How many such parts there were before.
        nodes: How many nodes there are.
    """
    if nodes > 1:
        spread = -(-PARTS_PER_NODE * nodes // (before + 1))
        parts = max(parts, min(spread, rows // FIRST_ROWS))
    return max(1, -(-rows // parts))


def _packed(rows: list[object], start: int, order: Order | None) -> Piece:
    if order is not None:
        rows = [rows[place] for place in order.of(start, len(rows))]
    return Piece(batch=pack(rows), start=start, rows=len(rows))


def _rows_for(piece_bytes: int, size: int, rows: int) -> int:
    """Returns how many rows make a piece of a size, where some rows are so big together."""
    return max(1, min(MOST_ROWS, piece_bytes * rows // max(1, size)))
