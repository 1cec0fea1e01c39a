"""Inference whose results stand beside columns of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext
from hopyard.errors import BadArguments

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
ROWS = 2_000


def square(ctx: NodeContext) -> None:
    """Answers in batches of many sizes, which fit no piece."""
    feed = ctx.feed()
    number = 0
    while len(batch := feed.next_batch(37 + number % 5)):
        assert not isinstance(batch, list)
        squares = batch.column("n").to_numpy() ** 2
        feed.batch_results({"square": squares})
        number += 1


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    from hopyard import Project

    project = Project.open(str(tmp_path_factory.mktemp("root")))
    with Cluster(square, nodes=2, feed=True, project=project) as started:
        yield started


def frame_of_many_types(spark: SparkSession) -> DataFrame:
    """Rows of many types, in partitions of which one is empty."""
    frame = spark.range(0, ROWS, 1, 4).selectExpr(
        "id AS n",
        "concat('k', id) AS key",
        "IF(id % 3 = 0, NULL, id * 0.5D) AS half",
        "CAST(id AS DECIMAL(20, 3)) / 7 AS price",
        "timestamp_seconds(1700000000 + id) AS seen",
        "CAST(timestamp_seconds(1700000000 + id) AS timestamp_ntz) AS noted",
        "date_add(DATE'2024-01-01', CAST(id % 900 AS INT)) AS day",
        "array(CAST(id AS FLOAT), 1.5F) AS raw",
        "IF(id % 5 = 0, NULL, array(array(id), array(id, NULL))) AS nested",
        "named_struct('a', id, 'b', array(concat('x', id))) AS record",
        "map(concat('m', id), id) AS pairs",
        "CAST(concat('b', id) AS BINARY) AS bytes",
        "id % 2 = 0 AS even",
    )
    return frame.where("n < 500 OR n >= 1000")


def test_columns_of_all_types_stand_beside_the_results_of_their_rows(
    spark: SparkSession, cluster: Cluster
) -> None:
    frame = frame_of_many_types(spark)
    kept = [name for name in frame.columns if name != "n"]
    found = cluster.inference(frame, "square long", keep=kept)
    assert found.schema.fields[:-1] == frame.select(kept).schema.fields
    assert found.columns == [*kept, "square"]
    expected = [{**row.asDict(recursive=True), "square": row.n**2} for row in frame.collect()]
    for row in expected:
        del row["n"]
    assert [row.asDict(recursive=True) for row in found.collect()] == expected


def test_kept_columns_can_be_joined_filtered_and_limited(spark: SparkSession, cluster: Cluster) -> None:
    frame = spark.range(0, ROWS, 1, 3).selectExpr("id AS n", "id % 10 AS group")
    found = cluster.inference(frame, "square long", keep="n")
    assert found.where("square != n * n").count() == 0
    assert [tuple(row) for row in found.limit(3).collect()] == [(0, 0), (1, 1), (2, 4)]
    nothing = cluster.inference(frame.where("n < 0"), "square long", keep=["n", "group"])
    assert (nothing.collect(), nothing.columns) == ([], ["n", "group", "square"])


def test_vectors_of_spark_ml_are_kept(spark: SparkSession, cluster: Cluster) -> None:
    from pyspark.ml.linalg import Vectors

    rows = [(n, Vectors.dense([n, 1.0])) for n in range(10)]
    frame = spark.createDataFrame(rows, ["n", "v"])
    found = cluster.inference(frame, "square long", keep=["v", "n"]).collect()
    assert [(row.n, row.v) for row in found] == [(row.n, row.v) for row in frame.collect()]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["nn"], "there is no column 'nn'; did you mean 'n'? The columns are n, group"),
        ("*", "there is no column '*'"),
        (True, "keep=True is no list of column names"),
        ([1], r"keep=[1] is no list of column names"),
        (["n", "n"], "has a column twice"),
        (["N"], "there is no column 'N'"),
    ],
)
def test_a_wrong_keep_is_one_sentence(spark: SparkSession, cluster: Cluster, keep: Any, message: str) -> None:
    frame = spark.range(10).selectExpr("id AS n", "id AS group")
    with pytest.raises(BadArguments) as caught:
        cluster.inference(frame, "square long", keep=keep)
    assert message in str(caught.value)


def test_a_kept_column_that_cannot_be_told_from_another_is_refused(
    spark: SparkSession, cluster: Cluster
) -> None:
    frame = spark.range(10).selectExpr("id AS n", "id AS square", "id AS twice", "id AS twice")
    with pytest.raises(BadArguments, match="the results have a column 'square', too"):
        cluster.inference(frame, "Square long", keep=["square"])
    with pytest.raises(BadArguments, match="2 columns are named 'twice'"):
        cluster.inference(frame, "result long", keep=["twice"])
    with pytest.raises(BadArguments, match="an RDD has no columns"):
        cluster.inference(spark.sparkContext.range(3), keep=["n"])
