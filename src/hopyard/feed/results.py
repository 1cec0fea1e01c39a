"""Results of a training function on their way back: what it may return, and the columns that Spark wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hopyard.errors import BadArguments
from hopyard.feed.pieces import is_pickled, pack, unpack

RESULT = "result"


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
        return pa.record_batch({RESULT: _column(results)}), len(results)
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
    """Returns results in the columns of a schema: by name where the names are the same, else by position.

    Raises:
        BadArguments: They do not fit.
    """
    try:
        if is_pickled(batch.schema):
            return _from_rows(unpack(batch), schema)
        names = batch.schema.names
        by_name = set(names) == set(schema.names)
        columns = [batch.column(name) for name in schema.names] if by_name else batch.columns
        if len(columns) != len(schema):
            raise BadArguments("inference", f"the results have the columns {names}, not {schema.names}")
        cast = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
        return pa.record_batch(cast, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise BadArguments(
            "inference", f"the results do not fit the schema {schema.names}: {error}"
        ) from error


def _from_rows(rows: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    rows = [row.tolist() if isinstance(row, np.ndarray | np.generic) else row for row in rows]
    if rows and isinstance(rows[0], Mapping):
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
