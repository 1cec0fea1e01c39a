"""What the batches of a feed look like as tensors: the first one tells, and all others keep to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from hopyard.columns.arrays import specs, to_numpy
from hopyard.columns.kinds import depth, innermost, is_list, is_vector
from hopyard.columns.lists import numbers_to_numpy
from hopyard.columns.nulls import Nulls, read_as_nan
from hopyard.errors import BadArguments, NullValues, RowsDiffer, UnknownColumns
from hopyard.frameworks.selection import Selection
from hopyard.frameworks.source import Rows

OBJECT = np.dtype(object)
COUNT = np.dtype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ragged:
    """Rows of lists that vary in length.

    Attributes:
        values: What is in the lists, of all rows one after the other.
        splits: By level of lists, the outermost first, where they begin and end: list i has the elements of the next
            level from `splits[i]` up to `splits[i + 1]`.
    """

    values: npt.NDArray[Any]
    splits: tuple[npt.NDArray[np.int64], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnForm:
    """What a column looks like in all batches.

    Attributes:
        name: The name of the column.
        kind: Its type in Arrow.
        dtype: The type of its numbers; `object` for text and all else that is no number.
        shape: The shape of one row; None for a length that varies.
        fills: What stands for its nulls, by its name; empty: nothing does.
    """

    name: str
    kind: pa.DataType
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    fills: Mapping[str, object]

    @property
    def is_text(self) -> bool:
        """Whether it holds strings or bytes, or lists of them."""
        return _is_text(self.kind)

    @property
    def ragged_levels(self) -> int:
        """How many levels of lists, from the outermost on, have to be told row by row; 0: none varies."""
        return max((level for level, length in enumerate(self.shape, 1) if length is None), default=0)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """The shape of what is within the lists that vary, or of a row."""
        return tuple(length for length in self.shape[self.ragged_levels :] if length is not None)

    def column(self, batch: pa.RecordBatch) -> pa.Array:
        """Returns the column of a batch.

        Raises:
            UnknownColumns: It has none of this name.
            RowsDiffer: It is of another type than at first.
        """
        if self.name not in batch.schema.names:
            raise UnknownColumns((self.name,), tuple(batch.schema.names))
        column = batch.column(self.name)
        if column.type != self.kind:
            remedy = "feed DataFrames with the same columns, or make a dataset for each"
            raise RowsDiffer(self.name, str(self.kind), str(column.type), remedy)
        return column

    def array(self, batch: pa.RecordBatch) -> npt.NDArray[Any] | Ragged:
        """Returns the column of a batch: an array, a view where it can be, or `Ragged` if rows vary in length.

        Raises:
            UnknownColumns: It has none of this name.
            RowsDiffer: It is of another type or shape than at first.
            NullValues: It has nulls that nothing stands for.
        """
        column = self.column(batch)
        if self.ragged_levels:
            return self._ragged(column)
        if self.is_text:
            return self._text(column)
        return self._fitting(to_numpy(batch, columns=[self.name], fill_nulls=self.fills)[self.name])

    def _ragged(self, column: pa.Array) -> Ragged:
        nulls = self._nulls()
        splits = []
        for _ in range(self.ragged_levels):
            column = nulls.filled(column)
            splits.append(_splits(column))
            column = column.flatten()
        if self.is_text:
            return Ragged(values=self._text(column), splits=tuple(splits))
        if not is_list(column.type):  # a null in a list is an error, also where a column of floats has NaN
            column = nulls.filled(column.cast(innermost(column.type)))
        if not len(column):
            return Ragged(values=np.empty((0, *self.inner_shape), self.dtype), splits=tuple(splits))
        return Ragged(values=self._fitting(numbers_to_numpy(column, nulls)), splits=tuple(splits))

    def _text(self, column: pa.Array) -> npt.NDArray[Any]:
        text = column.cast(innermost(column.type))
        if text.null_count and not is_list(self.kind) and self.fills:
            text = self._nulls().filled(text)
        if text.null_count:
            raise NullValues(self.name, text.null_count, str(text.type), "''")
        return np.asarray(text.to_numpy(zero_copy_only=False))

    def _nulls(self) -> Nulls:
        return (
            Nulls.of(self.name, self.kind, self.fills[self.name]) if self.fills else Nulls(column=self.name)
        )

    def _fitting(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.dtype == OBJECT:
            return array
        if array.dtype == OBJECT:
            raise self._differs("rows that vary in length")
        if array.shape[1:] != self.inner_shape:
            raise self._differs(f"rows of shape {array.shape[1:]}")
        return array.astype(self.dtype, copy=False)

    def _differs(self, found: str) -> RowsDiffer:
        remedy = f"if their lengths vary, say so (ragged=[{self.name!r}])"
        return RowsDiffer(self.name, f"rows of shape {self.inner_shape}", found, remedy)


def columns_of(batch: Rows, asked_by: str) -> pa.RecordBatch:
    """Returns a batch, which has columns.

    Raises:
        BadArguments: The rows are those of an RDD.
    """
    if isinstance(batch, list):
        raise BadArguments(
            asked_by, "the rows of an RDD have no columns; feed a DataFrame, or use next_batch()"
        )
    return batch


def forms(sample: pa.RecordBatch, selection: Selection, asked_by: str) -> tuple[ColumnForm, ...]:
    """Returns what the wanted columns look like, as some rows show it.

    Dates, timestamps and durations, for which frameworks have no type, are int64: days since 1970, and microseconds as
    Spark counts them.

    Args:
        sample: Some rows.
        selection: What is wanted of them.
        asked_by: The function of the user's call, for errors.

    Raises:
        UnknownColumns: Something is wanted of a column that is not there.
        DuplicateColumns: Several columns have the same name.
        NullValues: Vectors are missing, and nothing stands for them.
        InvalidVectors: The vectors of a column vary in length.
        BadArguments: A column cannot be what it is wanted to be.
    """
    label = selection.label
    if label is not None and label not in sample.schema.names:
        raise UnknownColumns((label,), tuple(sample.schema.names))
    names = selection.names(sample.schema)
    if label is not None and set(names) == {label}:
        raise BadArguments(asked_by, f"the label {label!r} is the only column")
    found = {spec.name: spec for spec in specs(sample.schema, sample)}
    made = []
    for name in names:
        kind = sample.schema.field(name).type
        fills = {name: selection.fill_nulls[name]} if name in selection.fill_nulls else {}
        shape = found[name].shape
        if is_vector(kind):
            shape = to_numpy(sample, columns=[name], fill_nulls=fills)[name].shape[1:]
        elif _is_text(kind):
            shape = (None,) * depth(kind)
        if name in selection.ragged:
            shape = _varying(name, kind, asked_by)
        dtype = _dtype(name, found[name].dtype, selection.dtypes, asked_by)
        made.append(ColumnForm(name=name, kind=kind, dtype=dtype, shape=shape, fills=fills))
    return tuple(made)


def nans_of(columns: Collection[ColumnForm], batch: pa.RecordBatch) -> dict[str, int]:
    """Returns how many nulls of a batch came out as NaN, by column."""
    filled = [form.name for form in columns if form.fills]
    return read_as_nan(batch, [form.name for form in columns], filled)


def _is_text(kind: pa.DataType) -> bool:
    leaf = innermost(kind)
    return bool(
        types.is_string(leaf)
        or types.is_large_string(leaf)
        or types.is_binary(leaf)
        or types.is_large_binary(leaf)
        or types.is_fixed_size_binary(leaf)
    )


def _splits(lists: pa.Array) -> npt.NDArray[np.int64]:
    """Returns where lists, of which none is null, begin and end in their values."""
    splits = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(pc.list_value_length(lists).to_numpy(), out=splits[1:])
    return splits


def _varying(name: str, kind: pa.DataType, asked_by: str) -> tuple[None, ...]:
    if not is_list(kind):
        raise BadArguments(asked_by, f"ragged names {name!r}, which is not a column of lists but {kind}")
    return (None,) * depth(kind)


def _dtype(name: str, natural: np.dtype[Any], wanted: Mapping[str, str], asked_by: str) -> np.dtype[Any]:
    if natural.kind in "mM":  # numpy's timedelta64 and datetime64
        natural = COUNT
    if name not in wanted:
        return natural
    if natural == OBJECT:
        raise BadArguments(asked_by, f"dtypes names {name!r}, which is not a column of numbers")
    try:
        dtype = np.dtype(wanted[name])
    except TypeError as error:
        raise BadArguments(asked_by, f"dtypes[{name!r}]={wanted[name]!r}: {error}") from error
    if dtype.kind not in "biuf":
        raise BadArguments(
            asked_by, f"dtypes[{name!r}]={wanted[name]!r} is not a type of numbers; give one such as float32"
        )
    return dtype
