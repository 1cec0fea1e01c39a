"""Where a search runs: on the executors of Spark, or on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopyard.errors import InvalidSearch
from hopyard.run.backend_choice import resolve

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from hopyard.backends.base import Backend


def check_backend(backend: str | None) -> None:
    """Checks that there is such a backend.

    Raises:
        InvalidSearch: There is none.
    """
    if backend not in (None, "spark", "processes"):
        raise InvalidSearch(f"backend={backend!r} is not valid", "Give 'spark' or 'processes'")


def search_backend(backend: str | None, spark: SparkSession | SparkContext | None) -> Backend:
    """Returns the backend to use: the one asked for, else the active Spark session.

    Raises:
        NoActiveSpark: Spark is to be used and there is no session.
        SparkUnusable: It is to be used and cannot be.
        InvalidSearch: ``backend`` is a name that is none.
    """
    check_backend(backend)
    return resolve(backend, spark, what="a search")
