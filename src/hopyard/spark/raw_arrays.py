"""Arrays of numbers as Spark holds them in memory, made into columns of Arrow.

Spark writes an array into Arrow number by number, at several times the cost of all the rest of its way. So a DataFrame
is fed with the numbers of each array as the bytes that Spark keeps them in (`spark_arrays`). A column of such bytes has
the numbers of all its rows one after the other, which is how Arrow has them, too: they stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameForm:
    """How the columns of a DataFrame travel to Spark's Python.

    Attributes:
        names: What they are called.
        raw: Which of them, by place, travel as two: the bytes of the numbers of an array, which count as a text to
            Spark, null where it does not hold the array so; and the array for those rows.
        is_renamed: Whether they travel under other names.
    """

    names: tuple[str, ...]
    raw: frozenset[int] = frozenset()
    is_renamed: bool = False

    def restored(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields batches with the columns of the DataFrame."""
        return map(self._restore, batches) if self.raw or self.is_renamed else iter(batches)

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
    kind = rest.type.value_type
    width = kind.bit_width // 8
    validity, ends, data = raw.buffers()
    is_large = pa.types.is_large_string(raw.type) or pa.types.is_large_binary(raw.type)
    places = np.frombuffer(ends, np.int64 if is_large else np.int32)
    lists = pa.Array.from_buffers(
        rest.type,
        len(raw),
        [validity, pa.py_buffer((places // width).astype(np.int32))],
        offset=raw.offset,
        children=[pa.Array.from_buffers(kind, data.size // width, [None, data])],
    )
    return pc.coalesce(lists, rest) if raw.null_count else lists
