"""What of the data is to validate with: other data, a part of it, or the rows that a column tells."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments
from hopyard.spark.column_names import places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SEED = 0
_DIGITS = re.compile(r"decimal\(\d+,\d+\)")


def split(data: object, validation: object) -> tuple[object, object | None]:
    """Returns the data to learn from, and that to validate with, if any.

    Args:
        data: A DataFrame or an RDD.
        validation: None; another DataFrame or RDD; the part of the rows to take, between 0 and 1; or the name of a
            boolean column, which is left out of both.

    Raises:
        BadArguments: It is none of these, or does not fit the data.
    """
    if validation is None:
        return data, None
    if isinstance(validation, str):
        return _by_column(data, validation)
    if isinstance(validation, (int, float)):
        return _by_fraction(data, validation)
    check_columns(data, validation)
    return data, validation


def check_columns(data: object, validation: object) -> None:
    """Checks that rows to validate with have the columns of those to learn from, in the same types; more do no harm.

    Decimals may have other digits, since their arrays are of float64 anyway.

    Raises:
        BadArguments: Both are DataFrames, and a column is missing or of another type.
    """
    from pyspark.sql import DataFrame

    if not isinstance(data, DataFrame) or not isinstance(validation, DataFrame):
        return
    theirs = dict(validation.dtypes)
    for name, kind in data.dtypes:
        if name not in theirs:
            raise BadArguments("train", _lacks(name, list(theirs)))
        if _without_digits(kind) != _without_digits(theirs[name]):
            raise BadArguments(
                "train",
                f"column {name!r} is of type {kind} in the data and of type {theirs[name]} in the DataFrame given as "
                f"validation; cast one of them, such as df.withColumn({name!r}, df[{name!r}].cast({kind!r}))",
            )


def _lacks(name: str, there: list[str]) -> str:
    near = difflib.get_close_matches(name, there, n=1)
    guess = f" (did you mean {near[0]!r}?)" if near else ""
    return (
        f"the DataFrame given as validation has no column {name!r}, which the data has; its columns are "
        f"{', '.join(there)}{guess}. Add it, or drop it from the data"
    )


def _without_digits(kind: str) -> str:
    return _DIGITS.sub("decimal", kind)


def nothing_to_validate_with(validation: object) -> str:
    """Returns what to say if there are no rows to validate with."""
    if isinstance(validation, str):
        return f"validation={validation!r} leaves no rows to validate with: that column is true in no row"
    if isinstance(validation, (int, float)):
        return f"validation={validation!r} leaves no rows to validate with; give more data, or a larger part"
    return (
        f"the {type(validation).__name__} given as validation has no rows; check its filters, or leave it out"
    )


def nothing_to_train_on(data: str, validation: object) -> str:
    """Returns what to say if there are no rows to train on, in some kind of data."""
    if isinstance(validation, (str, int, float)):
        return f"validation={validation!r} leaves no rows to train on; give more data, or hold out less of it"
    return f"the {data} has no rows to train on; check its filters"


def _by_fraction(data: Any, fraction: float) -> tuple[object, object]:
    if isinstance(fraction, bool) or not 0 < fraction < 1:
        raise BadArguments(
            "train", f"validation={fraction!r} is not valid; give a part of the rows between 0 and 1"
        )
    if not hasattr(data, "randomSplit"):
        return data, None  # which is refused as data
    rest, part = data.randomSplit([1 - fraction, fraction], seed=SEED)
    return rest, part


def _by_column(data: Any, name: str) -> tuple[object, object]:
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as f

    if not isinstance(data, DataFrame):
        raise BadArguments("train", f"validation={name!r} names a column, but only a DataFrame has columns")
    kind = _kind(data, name)
    if kind != "boolean":
        remedy = f"give a column of booleans, such as df[{name!r}] == 1"
        raise BadArguments("train", f"validation={name!r} is a column of {kind}; {remedy}")
    plain = places(data.columns)
    place = data.columns.index(name)
    renamed = data.toDF(*plain)
    tells = f.coalesce(renamed[plain[place]], f.lit(False))
    others = [column for column in data.columns if column != name]
    rest, part = (renamed.filter(is_wanted).drop(plain[place]).toDF(*others) for is_wanted in (~tells, tells))
    return rest, part


def _kind(data: DataFrame, name: str) -> str:
    kinds = [kind for column, kind in data.dtypes if column == name]
    if not kinds:
        raise BadArguments(
            "train", f"validation={name!r} is no column; choose from {', '.join(data.columns)}"
        )
    if len(kinds) > 1:
        raise BadArguments("train", f"validation: {len(kinds)} columns are named {name!r}; rename them")
    return kinds[0]
