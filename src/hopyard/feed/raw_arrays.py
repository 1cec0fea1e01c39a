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
    memory = _Memory(raw)
    lists = None if raw.null_count else _even_lists(memory, rest.type)
    if lists is None:
        lists = _any_lists(memory, rest.type, raw)
    return pc.coalesce(lists, rest) if raw.null_count else lists


class _Memory:
    """The bytes of some arrays, in words, and where each array ends after the one before it, in bytes."""

    def __init__(self, raw: pa.Array) -> None:
        _, ends, data = raw.buffers()
        is_large = pa.types.is_large_string(raw.type) or pa.types.is_large_binary(raw.type)
        places = np.frombuffer(ends, np.int64 if is_large else np.int32)
        self.ends = places[raw.offset : raw.offset + len(raw) + 1]
        self.words = np.frombuffer(data, np.uint64, count=data.size // WORD)


def _even_lists(memory: _Memory, kind: pa.ListType) -> pa.ListArray | None:
    """Returns arrays that are all as long and have no nulls, in one copy; None if they are not like that."""
    rows = len(memory.ends) - 1
    first, second = memory.ends[:2].tolist()
    if (np.diff(memory.ends) != second - first).any():
        return None
    words = (second - first) // WORD
    table = memory.words[first // WORD : first // WORD + rows * words].reshape(rows, words)
    count = int(table[0, 0])
    head = 1 + -(-count // BITS)
    if (table[:, 0] != count).any() or table[:, 1:head].any():
        return None
    numbers = table[:, head:].view(kind.value_type.to_pandas_dtype())[:, :count]
    values = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(
        kind,
        rows,
        [None, pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(count))],
        children=[pa.Array.from_buffers(kind.value_type, rows * count, [None, values])],
    )


def _any_lists(memory: _Memory, kind: pa.ListType, raw: pa.Array) -> pa.ListArray:
    """Returns arrays of any length, and nulls where there are none."""
    starts = memory.ends[:-1].astype(np.int64) // WORD
    is_held = np.asarray(raw.is_valid())
    counts = np.zeros(len(raw), np.int64)
    counts[is_held] = memory.words[starts[is_held]]
    offsets = np.zeros(len(raw) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    values = _values(memory.words, starts, counts, np.dtype(kind.value_type.to_pandas_dtype()))
    mask = None if is_held.all() else pa.array(~is_held)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=kind, mask=mask)


def _values(words: np.ndarray, starts: np.ndarray, counts: np.ndarray, kind: np.dtype) -> pa.Array:
    """Returns the numbers of all arrays."""
    ends = np.cumsum(counts)
    within = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    heads = 1 + -(-counts // BITS)
    numbers = words.view(kind)[np.repeat((starts + heads) * (WORD // kind.itemsize), counts) + within]
    null_words = words[np.repeat(starts + 1, counts) + within // BITS]
    nulls = null_words >> (within % BITS).astype(np.uint64) & np.uint64(1)
    return pa.array(numbers, mask=nulls.astype(bool) if nulls.any() else None)
