"""Which backend a launch uses: the one asked for, else the active Spark session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopyard.cluster.backend import Backend
from hopyard.cluster.inline import InlineBackend
from hopyard.cluster.processes import ProcessesBackend
from hopyard.errors import NoActiveSpark, UnknownBackend
from hopyard.session.active import active_spark, require_pyspark

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def resolve(backend: str | Backend | None, spark: SparkSession | SparkContext | None) -> Backend:
    """Returns the backend to use.

    Raises:
        NoActiveSpark: Spark is to be used and there is no session.
        UnknownBackend: ``backend`` is a name that is none.
    """
    if backend is None or backend == "spark":
        return _spark_backend(spark if spark is not None else active_spark())
    if backend == "processes":
        return ProcessesBackend()
    if backend == "inline":
        return InlineBackend()
    if isinstance(backend, str) or not hasattr(backend, "application"):
        raise UnknownBackend(str(backend))
    return backend


def _spark_backend(spark: SparkSession | SparkContext | None) -> Backend:
    require_pyspark("a run without backend='processes'")
    if spark is None:
        raise NoActiveSpark
    from pyspark.sql import SparkSession

    from hopyard.cluster.spark import SparkBackend

    return SparkBackend(spark.sparkContext if isinstance(spark, SparkSession) else spark)
