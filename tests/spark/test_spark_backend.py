from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

import hopyard
from hopyard.cluster.backend import Backend
from hopyard.cluster.spark import SparkBackend
from hopyard.errors import NotPicklable
from hopyard.testing.backend_contract import ProcessContract
from hopyard.testing.node_functions import square

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class TestSpark(ProcessContract):
    @pytest.fixture
    def backend(self, spark: SparkSession) -> Backend:
        return SparkBackend(spark.sparkContext)


def test_the_active_session_is_used_by_default(spark: SparkSession) -> None:
    result = hopyard.launch(square, {"x": 3})
    assert result.value == 9
    assert result.run_id.startswith(spark.sparkContext.applicationId)


def test_a_captured_session_is_refused_at_once_by_name(spark: SparkSession) -> None:
    def uses_the_session() -> object:
        return spark.range(3).count()

    began = time.monotonic()
    with pytest.raises(NotPicklable, match="the closure variable 'spark'"):
        hopyard.launch(uses_the_session)
    assert time.monotonic() - began < 5
