"""Which of Arrow's types are numbers, lists of numbers, or Spark ML vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types


def is_list(kind: pa.DataType) -> bool:
    """Tells whether a type is one of Arrow's lists, of varying or of fixed length."""
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_vector(kind: pa.DataType) -> bool:
    """Tells whether a type is the struct as which Spark ML vectors arrive."""
    if not types.is_struct(kind) or [field.name for field in kind] != ["type", "size", "indices", "values"]:
        return False
    form, size, indices, values = (field.type for field in kind)
    return bool(
        types.is_int8(form)
        and types.is_int32(size)
        and is_list(indices)
        and types.is_int32(indices.value_type)
        and is_list(values)
        and types.is_float64(values.value_type)
    )


def depth(kind: pa.DataType) -> int:
    """Returns how many levels of lists a type has."""
    return 1 + depth(kind.value_type) if is_list(kind) else 0


def innermost(kind: pa.DataType) -> pa.DataType:
    """Returns the type of the values in lists of any depth, or of the values of a plain column.

    Dictionaries count as what they encode, and decimals as float64, since that is what they become.
    """
    while is_list(kind) or types.is_dictionary(kind):
        kind = kind.value_type
    return pa.float64() if types.is_decimal(kind) else kind


def is_number(kind: pa.DataType) -> bool:
    """Tells whether numpy has a type of fixed size for it: also for booleans, dates, timestamps and durations."""
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_date(kind)
        or types.is_timestamp(kind)
        or types.is_duration(kind)
    )


def number_dtype(kind: pa.DataType) -> np.dtype[Any]:
    """Returns the numpy type of a type of numbers."""
    dtype: np.dtype[Any] = pa.array([], kind).to_numpy(zero_copy_only=False).dtype
    return dtype
