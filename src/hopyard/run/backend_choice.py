"""Which backend a launch uses: the one asked for, else the active Spark session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopyard.backends.base import Backend
from hopyard.backends.inline import InlineBackend
from hopyard.backends.processes import ProcessesBackend
from hopyard.errors import UnknownBackend
from hopyard.spark.session.active import usable_context

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def resolve(backend: str | Backend | None, spark: SparkSession | SparkContext | None) -> Backend:
    """Returns the backend to use.

    Raises:
        NoActiveSpark: Spark is to be used and there is no session.
        SparkUnusable: It is to be used and cannot be.
        UnknownBackend: ``backend`` is a name that is none.
    """
    if backend is None or backend == "spark":
        return _spark_backend(spark)
    if backend == "processes":
        return ProcessesBackend()
    if backend == "inline":
        return InlineBackend()
    if isinstance(backend, str) or not hasattr(backend, "application"):
        raise UnknownBackend(str(backend))
    return backend


def _spark_backend(spark: SparkSession | SparkContext | None) -> Backend:
    context = usable_context(spark, "a run without backend='processes'")
    from hopyard.backends.spark import SparkBackend

    return SparkBackend(context)
