"""Results of a training function on their way back: what it may return, and the columns that Spark wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hopyard.errors import BadArguments
from hopyard.feed.pieces import is_pickled, pack, unpack

UNNAMED = ""
"""The column of results that came without names."""


def encode(results: object) -> tuple[pa.RecordBatch, int]:
    """Returns results as a batch, and how many there are.

    Args:
        results: A record batch or table, arrays by column, one array, or a sequence of any objects.

    Raises:
        BadArguments: It is none of these.
    """
    if isinstance(results, pa.Table):
        batches = results.combine_chunks().to_batches()
        results = batches[0] if batches else pa.RecordBatch.from_pylist([], schema=results.schema)
    if isinstance(results, pa.RecordBatch):
        return results, results.num_rows
    if isinstance(results, Mapping):
        batch = pa.record_batch({name: _column(column) for name, column in results.items()})
        return batch, batch.num_rows
    if isinstance(results, np.ndarray) and results.ndim:
        return pa.record_batch({UNNAMED: _column(results)}), len(results)
    if isinstance(results, Sequence) and not isinstance(results, str | bytes):
        return pack(list(results)), len(results)
    raise BadArguments(
        "batch_results",
        f"a {type(results).__name__} is not a list of results; give a list, an array or arrays by column",
    )


def decode(batch: pa.RecordBatch) -> list[Any]:
    """Returns results as objects, one for each row."""
    if is_pickled(batch.schema):
        return unpack(batch)
    if batch.num_columns == 1:
        return list(batch.column(0).to_pylist())
    return list(batch.to_pylist())


def to_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns results in the columns of a schema: by name, or by position if they have no names.

    Raises:
        BadArguments: They do not fit.
    """
    try:
        if is_pickled(batch.schema):
            return _from_rows(unpack(batch), schema)
        fitted = [
            _fitted(column, field) for column, field in zip(_ordered(batch, schema), schema, strict=True)
        ]
        return pa.record_batch(fitted, schema=schema)
    except BadArguments:
        raise
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise BadArguments(
            "inference", f"the results do not fit the schema {schema.names}: {error}"
        ) from error


def _ordered(batch: pa.RecordBatch, schema: pa.Schema) -> list[pa.Array]:
    """Returns the columns of results in the order of a schema."""
    names = batch.schema.names
    if names == schema.names or (names == [UNNAMED] and len(schema) == 1):
        return list(batch.columns)
    _check_names(names, schema)
    return [batch.column(name) for name in schema.names]


def _check_names(names: Sequence[str], schema: pa.Schema) -> None:
    if sorted(names) == sorted(schema.names):
        return
    shown = "one column without a name" if list(names) == [UNNAMED] else f"the columns {', '.join(names)}"
    raise BadArguments(
        "inference",
        f"the results have {shown}; the schema has {', '.join(schema.names)}. "
        "Give feed.batch_results the names that are in the schema",
    )


def _fitted(column: pa.Array, field: pa.Field) -> pa.Array:
    """Returns a column in the type of a field; one value for each row may have an axis of its own."""
    inner, axes = _axes(column.type)
    wanted, wanted_axes = _axes(field.type)
    if axes == [1] and not wanted_axes and not pa.types.is_nested(wanted):
        column = pc.list_element(column, 0)
    elif len(axes) != len(wanted_axes) and None not in axes and _are_plain(inner, wanted):
        depth = len(axes)
        shape = "(" + ", ".join(map(str, (len(column), *axes))) + ("," if not depth else "") + ")"
        remedy = f"{'array<' * depth}float{'>' * depth}"
        raise BadArguments(
            "inference",
            f"the results for column {field.name} have the shape {shape}, but its type is {field.type}. "
            f"Write {field.name} {remedy} in the schema, or give an array of another shape",
        )
    return column.cast(field.type)


def _axes(kind: pa.DataType) -> tuple[pa.DataType, list[int | None]]:
    """Returns the type of the values in lists, and the length of the lists on each level; None where it varies."""
    axes: list[int | None] = []
    while pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        axes.append(kind.list_size if pa.types.is_fixed_size_list(kind) else None)
        kind = kind.value_type
    return kind, axes


def _are_plain(*kinds: pa.DataType) -> bool:
    return not any(pa.types.is_nested(kind) for kind in kinds)


def _from_rows(rows: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    rows = [row.tolist() if isinstance(row, np.ndarray | np.generic) else row for row in rows]
    if rows and isinstance(rows[0], Mapping):
        _check_names(list(dict.fromkeys(name for row in rows for name in row)), schema)
        return pa.RecordBatch.from_pylist(rows, schema=schema)
    columns = [rows] if len(schema) == 1 and not _are_tuples(rows) else zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _are_tuples(rows: list[Any]) -> bool:
    return bool(rows) and isinstance(rows[0], tuple)


def _column(values: object) -> pa.Array:
    array = np.asarray(values)
    if array.ndim <= 1:
        return pa.array(array)
    flat = pa.array(np.ascontiguousarray(array).reshape(-1))
    for length in reversed(array.shape[1:]):
        flat = pa.FixedSizeListArray.from_arrays(flat, length)
    return flat
