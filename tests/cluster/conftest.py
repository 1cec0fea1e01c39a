from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from hopyard.testing.watching import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def executors(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark with all its executors, at the start of a test and at its end."""
    yield spark
    scala = spark.sparkContext._jsc.sc()
    wait_until(lambda: scala.getExecutorMemoryStatus().size() == 3, "both executors are back", 90)
