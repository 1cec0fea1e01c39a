"""Record batches as numpy arrays: one array per column, the row as first axis.

| column | array |
|---|---|
| integers, floats, booleans | 1-D of the same type; a view, save for booleans |
| dates, timestamps, durations | 1-D of datetime64 (in UTC) or timedelta64 |
| decimals | 1-D of float64 |
| lists of these, of any depth | n-D view where all rows have the same shape, else objects: one array per row |
| Spark ML vectors | 2-D of float64; a view where all are dense |
| strings, binaries | objects: str, bytes, None |
| all else | objects: lists, dicts (for structs and maps), None |

Views show the memory of the batch, keep it alive and are read-only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import types

from hopyard.columns.kinds import innermost, is_number, is_vector, number_dtype
from hopyard.columns.lists import numbers_to_numpy, row_shape
from hopyard.columns.nulls import Nulls
from hopyard.columns.vectors import values_type, vector_shape, vectors_to_numpy
from hopyard.errors import DuplicateColumns, UnknownColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSpec:
    """What a column looks like as arrays.

    Attributes:
        name: The name of the column.
        dtype: The type of its numbers; `object` for strings and all else that is no number.
        shape: The shape of one row; None for a length that varies or is not known.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]

    @property
    def ragged(self) -> bool:
        """Whether rows may differ in shape."""
        return None in self.shape


def to_numpy(
    batch: pa.RecordBatch | pa.Table,
    *,
    columns: Sequence[str] | None = None,
    fill_nulls: Mapping[str, object] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Returns one array per column, with the row as first axis.

    A null is NaN in a column of floats, and None in one of objects. Anywhere else, also within lists, it is an error
    unless `fill_nulls` says what stands for it.

    Args:
        batch: The rows; a slice is fine.
        columns: Which columns, in which order; None: all.
        fill_nulls: By column, what stands for a null: a number for numbers (also within lists), a list for rows of a
            column of lists or vectors.

    Raises:
        UnknownColumns: The batch has no such column.
        DuplicateColumns: Several columns of the batch have the same name.
        NullValues: A column has nulls that its array cannot hold.
        FillDoesNotFit: A column cannot hold what shall stand for its nulls.
        InvalidVectors: The vectors of a column are not all of the same length.
    """
    fills = {} if fill_nulls is None else fill_nulls
    names = batch.schema.names if columns is None else columns
    _check_names((*names, *fills), batch.schema)
    return {name: _array(name, _whole(batch.column(name)), fills) for name in names}


def specs(schema: pa.Schema, sample: pa.RecordBatch | pa.Table | None = None) -> tuple[ColumnSpec, ...]:
    """Returns what each column looks like as arrays, as far as it can be known.

    Args:
        schema: The columns.
        sample: Some rows: where the lists or vectors in them agree on a length, it is taken for that of all rows.

    Raises:
        UnknownColumns: The sample lacks a column.
        DuplicateColumns: Several columns have the same name.
    """
    rows = schema.empty_table() if sample is None else sample
    _check_names(schema.names, schema)
    _check_names(schema.names, rows.schema)
    return tuple(_spec(field, _whole(rows.column(field.name))) for field in schema)


def _check_names(wanted: Iterable[str], schema: pa.Schema) -> None:
    present = Counter(schema.names)
    unknown = tuple(dict.fromkeys(name for name in wanted if name not in present))
    if unknown:
        raise UnknownColumns(unknown, tuple(present))
    twice = tuple(name for name, count in present.items() if count > 1)
    if twice:
        raise DuplicateColumns(twice)


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Returns a column in one piece, without a copy if it is in one."""
    if isinstance(column, pa.Array):
        return column
    # `combine_chunks` copies even a single chunk.
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _array(name: str, column: pa.Array, fills: Mapping[str, object]) -> npt.NDArray[Any]:
    vectors = is_vector(column.type)
    kind = values_type(column.type) if vectors else column.type
    nulls = Nulls.of(name, kind, fills[name]) if name in fills else Nulls(column=name)
    if vectors:
        return vectors_to_numpy(column, nulls)
    if is_number(innermost(column.type)):
        return numbers_to_numpy(column, nulls)
    return _objects(column, nulls)


def _objects(column: pa.Array, nulls: Nulls) -> npt.NDArray[Any]:
    """Returns Python objects: str, bytes, lists, dicts; None for nulls that nothing stands for."""
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if nulls.fill is not None:
        column = nulls.filled(column)
    if not types.is_nested(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values: Iterable[Any] = column.to_pylist()
    if types.is_map(column.type):
        values = (None if pairs is None else dict(pairs) for pairs in values)
    # np.array would make one array of lists that happen to have the same length.
    return np.fromiter(values, dtype=object, count=len(column))


def _spec(field: pa.Field, rows: pa.Array) -> ColumnSpec:
    if is_vector(field.type):
        return ColumnSpec(name=field.name, dtype=np.dtype(np.float64), shape=vector_shape(rows))
    number = innermost(field.type)
    if not is_number(number):
        return ColumnSpec(name=field.name, dtype=np.dtype(object), shape=())
    return ColumnSpec(name=field.name, dtype=number_dtype(number), shape=row_shape(rows))
