"""Columns of Spark ML vectors as matrices.

Spark hands a `VectorUDT` to Arrow as a struct of four fields. A dense vector has its numbers in `values`, and nulls in
`size` and `indices`; a sparse one has its length in `size` and the places of its `values` in `indices`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hopyard.columns.lists import numbers_to_numpy
from hopyard.columns.nulls import Nulls
from hopyard.errors import InvalidVectors

_DENSE = 1


def values_type(kind: pa.DataType) -> pa.DataType:
    """Returns the type of the numbers of one vector: a list."""
    return kind.field("values").type


def vector_shape(column: pa.StructArray) -> tuple[int | None]:
    """Returns the length that all vectors of a column have; None: it varies, or nobody knows."""
    sizes = np.unique(_sizes(column.drop_null()))
    return (int(sizes[0]),) if sizes.size == 1 else (None,)


def vectors_to_numpy(column: pa.StructArray, nulls: Nulls) -> npt.NDArray[np.float64]:
    """Returns vectors, dense or sparse, as the rows of a dense matrix.

    Where all vectors are dense it is a view of their numbers. Sparse ones are written out: a matrix takes 8 bytes for
    each row and dimension, also where it is zero.

    Raises:
        InvalidVectors: They do not all have the same length.
        NullValues: A vector is missing, and no list is known that stands for it.
    """
    if not column.null_count:
        return _matrix(column, nulls)
    fill = np.array(nulls.stand_in(values_type(column.type), column.null_count).as_py(), dtype=np.float64)
    present = column.is_valid().to_numpy(zero_copy_only=False)
    known = _matrix(column.drop_null(), nulls)
    if present.any() and known.shape[1] != fill.size:
        raise InvalidVectors(
            nulls.column, f"they have {known.shape[1]} numbers, and what fills nulls {fill.size}"
        )
    matrix = np.empty((len(column), fill.size))
    matrix[~present] = fill
    if present.any():
        matrix[present] = known
    return matrix


def _matrix(column: pa.StructArray, nulls: Nulls) -> npt.NDArray[np.float64]:
    """Returns the matrix of a column without nulls."""
    sizes = _sizes(column)
    if not sizes.size:
        return np.empty(0)
    if (sizes != sizes[0]).any():
        reason = (
            f"they have from {sizes.min()} to {sizes.max()} numbers; all vectors of a batch must have as many"
        )
        raise InvalidVectors(nulls.column, reason)
    if _is_dense(column).all():
        return numbers_to_numpy(column.field("values"), nulls)
    return _scattered(column, int(sizes[0]), nulls)


def _is_dense(column: pa.StructArray) -> npt.NDArray[np.bool_]:
    dense: npt.NDArray[np.bool_] = column.field("type").to_numpy(zero_copy_only=False) == _DENSE
    return dense


def _lengths(lists: pa.Array) -> npt.NDArray[Any]:
    lengths: npt.NDArray[Any] = pc.list_value_length(lists).fill_null(0).to_numpy()
    return lengths


def _sizes(column: pa.StructArray) -> npt.NDArray[Any]:
    """Returns the length of each vector."""
    written = column.field("size").fill_null(0).to_numpy()
    return np.where(_is_dense(column), _lengths(column.field("values")), written)


def _scattered(column: pa.StructArray, width: int, nulls: Nulls) -> npt.NDArray[np.float64]:
    """Returns the matrix of vectors of which some are sparse."""
    counts, dense = _lengths(column.field("values")), _is_dense(column)
    values = nulls.filled(column.field("values").flatten()).to_numpy()
    # Counts on within each row, which is the place of a number in a dense vector.
    places = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    places[np.repeat(~dense, counts)] = _sparse_places(column, counts, dense, width, nulls.column)
    matrix = np.zeros((len(column), width))
    matrix[np.repeat(np.arange(len(column)), counts), places] = values
    return matrix


def _sparse_places(
    column: pa.StructArray, counts: npt.NDArray[Any], dense: npt.NDArray[np.bool_], width: int, name: str
) -> npt.NDArray[Any]:
    """Returns the places of all numbers of the sparse vectors, checked: numpy would take -1 for the last place."""
    indices = column.field("indices").filter(pa.array(~dense))
    if (_lengths(indices) != counts[~dense]).any():
        raise InvalidVectors(name, "a sparse vector has not as many indices as values")
    places: npt.NDArray[Any] = indices.flatten().to_numpy(zero_copy_only=False)
    if places.size and (places.min() < 0 or places.max() >= width):
        raise InvalidVectors(name, f"an index is outside of the {width} numbers of a vector")
    return places
