"""The Spark session that is there already."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hopyard.errors import MissingDependency

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require_pyspark(needed_for: str) -> None:
    """Makes sure that pyspark is installed, without importing it.

    Raises:
        MissingDependency: It is not.
    """
    if sys.modules.get("pyspark") is None and find_spec("pyspark") is None:
        raise MissingDependency("pyspark", needed_for, "spark")


def active_spark() -> SparkSession | None:
    """Returns the session of this process, or None; never starts one.

    A program that has not imported pyspark has no session, so pyspark is not imported to find out.
    """
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:  # noqa: SLF001 (no public way to look without starting)
        return None
    try:
        return SparkSession.active()
    except PySparkRuntimeError:  # a context without a session
        return None
