"""Columns of numbers, and of lists of numbers of any depth, as numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from hopyard.columns.kinds import is_list
from hopyard.columns.nulls import Nulls


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """One level of lists: where each list begins and ends in the values of the next level.

    Attributes:
        bounds: List i has the values from `bounds[i]` up to `bounds[i + 1]`.
        length: The length of all lists, if their type fixes it.
    """

    bounds: npt.NDArray[Any]
    length: int | None

    def common_length(self, first: int, last: int) -> int | None:
        """Returns the length that the lists from `first` up to `last` have in common, or None."""
        if self.length is not None:
            return self.length
        lengths = np.diff(self.bounds[first : last + 1])
        if not lengths.size:
            return 0
        return int(lengths[0]) if (lengths == lengths[0]).all() else None


def row_shape(column: pa.Array) -> tuple[int | None, ...]:
    """Returns the lengths that the lists of a column have, level by level; None: they vary, or nobody knows."""
    shape: list[int | None] = []
    while is_list(column.type):
        if types.is_fixed_size_list(column.type):
            shape.append(column.type.list_size)
        else:
            extremes = pc.min_max(pc.list_value_length(column)).as_py()
            shape.append(extremes["min"] if extremes["min"] == extremes["max"] else None)
        column = column.flatten()
    return tuple(shape)


def numbers_to_numpy(column: pa.Array, nulls: Nulls) -> npt.NDArray[Any]:
    """Returns numbers, or lists of numbers, with the row as first axis.

    Returns:
        If the lists of each level all have the same length, an n-dimensional view of the values. Otherwise an array of
        objects, each of them the array of one row (for which the same holds).

    Raises:
        NullValues: A number is missing, other than in a column of floats (there it is NaN), or a list is.
    """
    levels: list[_Level] = []
    rows = len(column)
    while is_list(column.type):
        level, column = _unpack(nulls.filled(column))
        levels.append(level)
    leaf = _leaf(column, nulls, nan=not levels)
    if not rows and any(level.length is None for level in levels):
        return leaf
    return _nest(levels, leaf, 0, rows)


def _unpack(lists: pa.Array) -> tuple[_Level, pa.Array]:
    """Returns where lists begin and end, and their values; `lists` may be a slice of a longer array."""
    rows = len(lists)
    if types.is_fixed_size_list(lists.type):
        length = lists.type.list_size
        bounds = np.arange(rows + 1) * length
        return _Level(bounds=bounds, length=length), lists.values.slice(lists.offset * length, rows * length)
    # Arrow allows an array without rows to have no offsets at all.
    offsets = lists.offsets.to_numpy() if rows else np.zeros(1, dtype=np.int64)
    values = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    return _Level(bounds=offsets - offsets[0], length=None), values


def _leaf(array: pa.Array, nulls: Nulls, *, nan: bool) -> npt.NDArray[Any]:
    """Returns plain numbers; with `nan`, a null of a float type without a fill is NaN."""
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    may_be_nan = nan and nulls.fill is None and types.is_floating(array.type)
    if types.is_decimal(array.type):
        array = array.cast(pa.float64())
    whole = array if may_be_nan else nulls.filled(array)
    numbers: npt.NDArray[Any] = whole.to_numpy(zero_copy_only=False)
    return numbers


def _nest(levels: Sequence[_Level], leaf: npt.NDArray[Any], first: int, last: int) -> npt.NDArray[Any]:
    """Returns the elements from `first` up to `last` of the outermost level as one array."""
    regular = _block(levels, leaf, first, last)
    if regular is not None:
        return regular
    rows = np.empty(last - first, dtype=object)
    bounds, inner = levels[0].bounds[first : last + 1].tolist(), levels[1:]
    for row, (start, stop) in enumerate(pairwise(bounds)):
        rows[row] = _nest(inner, leaf, start, stop) if inner else leaf[start:stop]
    return rows


def _block(
    levels: Sequence[_Level], leaf: npt.NDArray[Any], first: int, last: int
) -> npt.NDArray[Any] | None:
    """Returns a view of these elements that has one axis for each level; None: the lengths of a level vary."""
    shape = [last - first]
    for level in levels:
        length = level.common_length(first, last)
        if length is None:
            return None
        shape.append(length)
        first, last = int(level.bounds[first]), int(level.bounds[last])
    return leaf[first:last].reshape(shape)
