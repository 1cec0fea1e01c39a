"""What stands for the nulls of a column: arrays of numbers have no room for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import types

from hopyard.columns.kinds import depth, innermost, is_list, is_number
from hopyard.errors import FillDoesNotFit, NullValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Nulls:
    """The nulls of one column, and what they are filled with.

    A fill belongs to one level of a column: a number to the innermost values, a list to the lists of the same depth.

    Attributes:
        column: The name of the column, for errors.
        fill: What stands for a null, in the type of the level that it belongs to; None: nothing does.
    """

    column: str
    fill: pa.Scalar | None = None

    @classmethod
    def of(cls, column: str, kind: pa.DataType, fill: object) -> Nulls:
        """Returns what fills the nulls of a column.

        Args:
            column: Its name.
            kind: Its type.
            fill: A Python value, a list of them or a numpy array.

        Raises:
            FillDoesNotFit: No level of the column can hold the value.
        """
        try:
            given = pa.scalar(fill.tolist() if isinstance(fill, np.ndarray) else fill)
            level = _level(kind, depth(given.type))
            # By way of its own type, since Arrow cuts 2.5 to 2 when it is asked for an integer at once.
            scalar = given.cast(level)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise FillDoesNotFit(column, repr(fill), str(kind), str(error)) from error
        if not scalar.is_valid:
            raise FillDoesNotFit(column, repr(fill), str(kind), "it is a null itself")
        return cls(column=column, fill=scalar)

    def filled(self, array: pa.Array) -> pa.Array:
        """Returns an array without nulls: the same one if it has none.

        Raises:
            NullValues: It has some, and nothing is known to stand for them.
        """
        if not array.null_count:
            return array
        return array.fill_null(self.stand_in(array.type, array.null_count))

    def stand_in(self, kind: pa.DataType, count: int) -> pa.Scalar:
        """Returns what stands for nulls of this type.

        Raises:
            NullValues: Nothing does. `count` is how many there are.
        """
        if self.fill is None or self.fill.type != kind:
            raise NullValues(self.column, count, str(kind), _example(kind))
        return self.fill


def read_as_nan(batch: pa.RecordBatch, columns: Iterable[str], fills: Collection[str]) -> dict[str, int]:
    """Returns how many nulls are NaN in the arrays of a batch, by column.

    Args:
        batch: The rows.
        columns: Which columns are read.
        fills: The columns for which something stands for a null.
    """
    read = ((name, batch.column(name)) for name in columns if name not in fills)
    return {name: rows.null_count for name, rows in read if types.is_floating(rows.type) and rows.null_count}


def _level(kind: pa.DataType, lists: int) -> pa.DataType:
    """Returns the type at which so many levels of lists are left."""
    surplus = depth(kind) - lists
    if surplus < 0:
        raise ValueError("it has more levels of lists than the column")
    if surplus and not is_number(innermost(kind)):
        raise ValueError("it is no list, and nothing is filled within lists of other things than numbers")
    for _ in range(surplus):
        kind = kind.value_type
    return kind if is_list(kind) else innermost(kind)


def _example(kind: pa.DataType) -> str:
    """Returns what a user could write as a fill."""
    if is_list(kind):
        inner = _example(kind.value_type)
        return f"[{', '.join([inner] * kind.list_size)}]" if _short(kind) else f"[{inner}, ...]"
    if types.is_boolean(kind):
        return "False"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "datetime.date(1970, 1, 1)"
    return "datetime.timedelta(0)" if types.is_duration(kind) else "0"


def _short(kind: pa.DataType) -> bool:
    return bool(types.is_fixed_size_list(kind)) and 0 < kind.list_size <= 4
