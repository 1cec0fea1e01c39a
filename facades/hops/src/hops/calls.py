"""Both ways to call the Hops library: with the Spark session in front (until 2.6.5) and without (since)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

_CLASSES = {"SparkSession", "SparkContext"}
_KEYWORDS = ("spark", "spark_session", "sc")


def takes_spark(function: Callable[..., Result]) -> Callable[..., Result]:
    """Returns the function for both ways of calling; it gets the session as keyword ``spark``, or None."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Result:
        named = [kwargs.pop(keyword) for keyword in _KEYWORDS if keyword in kwargs]
        if args and is_spark(args[0]):
            named.append(args[0])
            args = args[1:]
        if len(named) > 1:
            raise TypeError(f"{function.__name__}() got more than one Spark session")
        return function(*args, **kwargs, spark=named[0] if named else None)

    return call


def is_spark(value: object) -> bool:
    """Whether a value is a session or context of Spark; found out without loading pyspark."""
    return any(
        base.__name__ in _CLASSES and base.__module__.partition(".")[0] == "pyspark"
        for base in type(value).__mro__
    )
