"""Programs that have made a SparkContext, and no SparkSession."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import hopyard
from hops import experiment, hdfs, tflauncher, util
from hopyard.spark.session import active_spark
from tensorflowonspark import TFCluster

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]


def seven() -> int:
    return 7


def double(number: int) -> int:
    return 2 * number


def returns(args: object, ctx: Any) -> None:
    return


@pytest.fixture
def sc(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkContext]:
    """The context of a Spark that knows of no session meanwhile, as if none had been made."""
    sessions = spark._jvm.org.apache.spark.sql.classic.SparkSession
    sessions.clearActiveSession()
    sessions.clearDefaultSession()
    monkeypatch.setattr(SparkSession, "_instantiatedSession", None)
    assert active_spark() is None
    yield spark.sparkContext
    sessions.setActiveSession(spark._jsparkSession)
    sessions.setDefaultSession(spark._jsparkSession)


def test_a_function_is_launched(sc: SparkContext) -> None:
    assert hopyard.launch(seven).value == 7


def test_a_cluster_runs(sc: SparkContext) -> None:
    TFCluster.run(sc, returns, {}, 2, 0).shutdown()


def test_the_functions_of_hops_find_the_context_or_are_given_it(sc: SparkContext) -> None:
    assert util.num_executors() == util.num_executors(sc) == 2
    for folder in (experiment.launch(seven), experiment.launch(sc, seven), tflauncher.launch(sc, seven)):
        assert hdfs.exists(folder)
    assert hdfs.exists(experiment.grid_search(double, {"number": [1, 2]}))
