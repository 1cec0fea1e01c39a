"""`local_spark`, with a line on the terminal while Spark starts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from hopyard.spark import session
from hopyard.spark.session.active import active_spark
from hopyard.view.activity import Activity, showing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

P = ParamSpec("P")


def shown(start: Callable[P, SparkSession]) -> Callable[P, SparkSession]:
    """Returns a function that starts Spark and says so meanwhile: it takes long, and Spark itself says nothing."""

    @wraps(start)
    def start_shown(*args: P.args, **kwargs: P.kwargs) -> SparkSession:
        if active_spark() is not None:  # it is there, or there is an error to raise
            return start(*args, **kwargs)
        with showing(Activity("Starting Spark")):
            return start(*args, **kwargs)

    return start_shown


local_spark = shown(session.local_spark)
