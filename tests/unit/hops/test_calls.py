from __future__ import annotations

import sys
import types

import pytest

from hops.calls import is_spark, takes_spark

pytestmark = pytest.mark.unit

# Classes that say they are Spark's, so that this lane needs no JVM.
SparkSession = types.new_class("SparkSession", exec_body=lambda names: names.update(__module__="pyspark.sql"))
SparkContext = types.new_class(
    "SparkContext", exec_body=lambda names: names.update(__module__="pyspark.core")
)


class OwnSession(SparkSession):  # type: ignore[misc, valid-type]
    """As a platform's own subclass."""


@takes_spark
def launch(function: str, args: str | None = None, *, spark: object = None) -> tuple[object, ...]:
    return spark, function, args


@pytest.mark.parametrize("spark", [SparkSession(), SparkContext(), OwnSession()])
def test_a_session_in_front_is_handed_on_by_name(spark: object) -> None:
    assert launch(spark, "train", "args") == (spark, "train", "args")


def test_a_call_without_a_session_means_the_active_one() -> None:
    assert launch("train", args="args") == (None, "train", "args")


@pytest.mark.parametrize("keyword", ["spark", "spark_session", "sc"])
def test_the_session_may_be_named_as_in_any_version(keyword: str) -> None:
    spark = SparkSession()
    assert launch("train", **{keyword: spark}) == (spark, "train", None)


def test_two_sessions_are_refused() -> None:
    with pytest.raises(TypeError, match=r"launch\(\) got more than one"):
        launch(SparkSession(), "train", spark=SparkSession())


def test_what_only_has_the_name_is_no_session() -> None:
    impostor = types.new_class("SparkSession", exec_body=lambda names: names.update(__module__="mine"))
    assert not is_spark(impostor())


def test_looking_for_a_session_does_not_load_pyspark() -> None:
    loaded = "pyspark" in sys.modules
    is_spark(object())
    assert ("pyspark" in sys.modules) == loaded
