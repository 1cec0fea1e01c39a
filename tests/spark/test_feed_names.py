"""Columns whose names Spark cannot resolve as they are: with dots, with backticks, or that differ in case only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext
from hopyard.errors import BadArguments

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

CASE = "spark.sql.caseSensitive"
ROWS = 40
NAMES = ["x", "X", "a.b", "tick`s", "*", "two words", "vec.tor", "is.held", "IS.HELD"]


def rows_by_name(ctx: NodeContext) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the rows of the last epoch, and those to validate with."""
    epochs = [
        [row for arrays in epoch.as_numpy(7) for row in by_name(arrays)] for epoch in ctx.feed().epochs()
    ]
    held_out = [row for arrays in ctx.feed("validation").as_numpy(7) for row in by_name(arrays)]
    return epochs[-1], held_out


def by_name(arrays: dict[str, Any]) -> list[dict[str, Any]]:
    lists = {name: array.tolist() for name, array in arrays.items()}
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def add(ctx: NodeContext) -> None:
    feed = ctx.feed()
    for batch in feed.as_numpy(7):
        feed.batch_results({"s.um": batch["x"] + batch["X"] + batch["a.b"], "result": batch["x"]})


def frame_of(spark: SparkSession, *, arrays: bool) -> DataFrame:
    vector = "array(float(id), 0.5F)" if arrays else "double(id)"
    frame = spark.range(0, ROWS, 1, 3).selectExpr(
        "id", "2 * id", "3 * id", "5 * id", "7 * id", "concat('w', id)", vector, "id % 4 = 0", "id % 5 = 0"
    )
    return frame.toDF(*NAMES)


def row(number: int, *, arrays: bool, without: str) -> dict[str, Any]:
    vector = [float(number), 0.5] if arrays else float(number)
    values = [number, 2 * number, 3 * number, 5 * number, 7 * number, f"w{number}", vector]
    values += [number % 4 == 0, number % 5 == 0]
    return {name: value for name, value in zip(NAMES, values, strict=True) if name != without}


@pytest.mark.parametrize("column", ["is.held", "IS.HELD"])
@pytest.mark.parametrize("arrays", [False, True], ids=["numbers", "arrays"])
def test_columns_of_any_name_are_fed_with_their_own_values(
    spark: SparkSession, column: str, arrays: bool
) -> None:
    every = 4 if column == "is.held" else 5
    with Cluster(rows_by_name, feed=True, backend="processes", progress=False) as cluster:
        cluster.train(frame_of(spark, arrays=arrays), epochs=2, validation=column)
        learnt, held_out = cluster.shutdown().value
    expected = [row(number, arrays=arrays, without=column) for number in range(ROWS)]
    assert sorted(learnt, key=lambda each: each["x"]) == [each for each in expected if each["x"] % every]
    assert sorted(held_out, key=lambda each: each["x"]) == [
        each for each in expected if not each["x"] % every
    ]


def test_a_part_of_rows_with_columns_of_any_name_is_held_out(spark: SparkSession) -> None:
    with Cluster(rows_by_name, feed=True, backend="processes", progress=False) as cluster:
        cluster.train(frame_of(spark, arrays=True), validation=0.3)
        learnt, held_out = cluster.shutdown().value
    assert held_out
    assert sorted([*learnt, *held_out], key=lambda each: each["x"]) == [
        row(number, arrays=True, without="") for number in range(ROWS)
    ]


@pytest.mark.parametrize("arrays", [False, True], ids=["numbers", "arrays"])
def test_columns_of_any_name_stand_beside_results_with_dots(spark: SparkSession, arrays: bool) -> None:
    with Cluster(add, feed=True, backend="processes", progress=False) as cluster:
        found = cluster.inference(
            frame_of(spark, arrays=arrays), "`s.um` long, result long", keep=["X", "a.b", "x", "tick`s"]
        )
        assert found.columns == ["X", "a.b", "x", "tick`s", "s.um", "result"]
        assert [tuple(each) for each in found.collect()] == [
            (2 * n, 3 * n, n, 5 * n, 6 * n, n) for n in range(ROWS)
        ]


def test_results_may_differ_from_kept_columns_in_case_where_spark_tells_them_apart(
    spark: SparkSession,
) -> None:
    frame = frame_of(spark, arrays=False)
    before = spark.conf.get(CASE)
    with Cluster(add, feed=True, backend="processes", progress=False) as cluster:
        wanted = frame.toDF(*["RESULT" if name == "two words" else name for name in frame.columns])
        with pytest.raises(BadArguments, match="the results have a column 'RESULT', too"):
            cluster.inference(wanted, "`s.um` long, result long", keep=["RESULT"])
        try:
            spark.conf.set(CASE, "true")
            found = cluster.inference(wanted, "`s.um` long, result long", keep=["RESULT"])
            both = [tuple(each) for each in found.select("RESULT", "result").collect()]
        finally:
            spark.conf.set(CASE, before)
    assert both == [(f"w{number}", number) for number in range(ROWS)]


def test_a_column_to_hold_out_by_that_is_there_twice_is_refused(spark: SparkSession) -> None:
    twice = spark.range(4).selectExpr("id", "id = 1 AS held", "id = 2 AS held")
    with Cluster(rows_by_name, feed=True, backend="processes", progress=False) as cluster:
        with pytest.raises(BadArguments, match="2 columns are named 'held'; rename them"):
            cluster.train(twice, validation="held")
        cluster.train(twice.toDF("id", "held", "other"), validation="held")
