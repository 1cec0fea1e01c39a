"""Arrays of numbers as Spark holds them in memory, made into columns of Arrow.

Spark writes an array into Arrow number by number, at several times the cost of all the rest of its way. So a DataFrame
is fed with its arrays as the bytes that Spark keeps them in (`spark_arrays`), and they are read here, many rows at once.
Such bytes are: how many numbers there are, in 8 bytes; a bit for each number that tells whether it is null, in whole
words of 8 bytes; and the numbers, filled up to a multiple of 8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

WORD = 8
BITS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameForm:
    """How the columns of a DataFrame travel to Spark's Python.

    Attributes:
        names: What they are called.
        raw: Which of them, by place, travel as two: the bytes of an array, which count as a text to Spark, null where it
            does not hold the array so; and the array for those rows.
    """

    names: tuple[str, ...]
    raw: frozenset[int] = frozenset()

    def restored(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields batches with the columns of the DataFrame."""
        return map(self._restore, batches) if self.raw else iter(batches)

    def _restore(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = iter(batch.columns)
        restored = [
            lists_of(next(columns), next(columns)) if place in self.raw else next(columns)
            for place in range(len(self.names))
        ]
        return pa.record_batch(restored, names=self.names)


def lists_of(raw: pa.Array, rest: pa.ListArray) -> pa.ListArray:
    """Returns arrays of numbers, from their bytes where there are any and as they are for the rest.

    Args:
        raw: The bytes, as texts or binaries of any form.
        rest: What counts where there are no bytes; its type is that of the result.
    """
    if raw.null_count == len(raw):
        return rest
    lists = _decoded(_Raw(raw, rest.type.value_type.to_pandas_dtype()), rest.type)
    return pc.coalesce(lists, rest) if raw.null_count > 0 else lists


class _Raw:
    """The bytes of some arrays.

    Attributes:
        starts: Where each begins, in words.
        counts: How many numbers it has.
        is_null: Whether there are none at all; None if that is the case nowhere.
    """

    def __init__(self, raw: pa.Array, kind: type[np.generic]) -> None:
        _, places, data = raw.buffers()
        is_large = pa.types.is_large_string(raw.type) or pa.types.is_large_binary(raw.type)
        ends = np.frombuffer(places, np.int64 if is_large else np.int32)[
            raw.offset : raw.offset + len(raw) + 1
        ]
        whole = data.size // WORD * WORD
        self.kind = np.dtype(kind)
        self.words = np.frombuffer(data, np.uint64, count=whole // WORD)
        self.bytes = np.frombuffer(data, np.uint8, count=whole)
        self.starts = (ends[:-1] // WORD).astype(np.int64)
        self.sizes = np.diff(ends)
        self.is_null = np.asarray(raw.is_null()) if raw.null_count else None
        self.counts = np.zeros(len(raw), np.int64)
        held = self.sizes > 0
        self.counts[held] = self.words[self.starts[held]]

    @property
    def is_even(self) -> bool:
        """Whether all have the same number of numbers."""
        return self.is_null is None and bool((self.counts == self.counts[0]).all())


def _decoded(raw: _Raw, kind: pa.ListType) -> pa.ListArray:
    offsets = np.zeros(len(raw.counts) + 1, np.int32)
    np.cumsum(raw.counts, out=offsets[1:])
    values = _even_values(raw) if raw.is_even else None
    if values is None:
        values = _any_values(raw, offsets)
    mask = None if raw.is_null is None else pa.array(raw.is_null)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=kind, mask=mask)


def _even_values(raw: _Raw) -> pa.Array | None:
    """Returns the numbers of arrays that are all as long, in one copy; None if some of them are null."""
    rows, count = len(raw.counts), int(raw.counts[0])
    head = WORD * (1 + -(-count // BITS))
    first = int(raw.starts[0]) * WORD
    table = raw.bytes[first : first + rows * int(raw.sizes[0])].reshape(rows, -1)
    if table[:, WORD:head].any():
        return None
    numbers = np.ascontiguousarray(table[:, head : head + count * raw.kind.itemsize])
    return pa.array(numbers.reshape(-1).view(raw.kind))


def _any_values(raw: _Raw, offsets: np.ndarray) -> pa.Array:
    """Returns the numbers of any arrays."""
    heads = 1 + -(-raw.counts // BITS)
    per_word = WORD // raw.kind.itemsize
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], raw.counts)
    numbers = raw.words.view(raw.kind)[np.repeat((raw.starts + heads) * per_word, raw.counts) + within]
    null_words = raw.words[np.repeat(raw.starts + 1, raw.counts) + within // BITS]
    nulls = null_words >> (within % BITS).astype(np.uint64) & np.uint64(1)
    return pa.array(numbers, mask=nulls.astype(bool) if nulls.any() else None)
