"""Where a search runs: on the executors of Spark, or on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopyard.errors import InvalidSearch
from hopyard.search.trial.slots import ProcessSlotBackend, SlotBackend
from hopyard.spark.session.active import usable_context

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def check_backend(backend: str | None) -> None:
    """Checks that there is such a backend.

    Raises:
        InvalidSearch: There is none.
    """
    if backend not in (None, "spark", "processes"):
        raise InvalidSearch(f"backend={backend!r} is not valid", "Give 'spark' or 'processes'")


def slot_backend(backend: str | None, spark: SparkSession | SparkContext | None) -> SlotBackend:
    """Returns the backend to use: the one asked for, else the active Spark session.

    Raises:
        NoActiveSpark: Spark is to be used and there is no session.
        SparkUnusable: It is to be used and cannot be.
        InvalidSearch: ``backend`` is a name that is none.
    """
    check_backend(backend)
    if backend == "processes":
        return ProcessSlotBackend()
    context = usable_context(spark, "a search without backend='processes'")
    from hopyard.search.trial.spark_slots import SparkSlotBackend

    return SparkSlotBackend(context)
