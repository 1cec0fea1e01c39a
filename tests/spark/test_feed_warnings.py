"""What the driver says, in one line, of a fed run that has ended well and may not have done what was meant."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def read_all(ctx: NodeContext) -> None:
    for epoch in ctx.feed().epochs():
        list(epoch.as_numpy(7))


def read_all_and_validate_on_the_chief(ctx: NodeContext) -> None:
    read_all(ctx)
    if ctx.rank == 0:
        list(ctx.feed("validation").as_numpy(7))


def read_gaps_as_zeros(ctx: NodeContext) -> None:
    list(ctx.feed().as_numpy(7, fill_nulls={"gap": 0.0}))


def read_gaps_as_nan(ctx: NodeContext) -> None:
    list(ctx.feed().as_numpy(7, fill_nulls={"gap": float("nan")}))


def read_other_columns(ctx: NodeContext) -> None:
    list(ctx.feed().as_numpy(7, columns=["id"]))


def read_torch(ctx: NodeContext) -> None:
    list(ctx.feed().as_torch_dataset(7))


def read_tensorflow(ctx: NodeContext) -> None:
    list(ctx.feed().as_tf_dataset(7))


def warnings_after(
    function: Callable[..., Any], spark: SparkSession, caplog: pytest.LogCaptureFixture, **options: Any
) -> list[str]:
    frame = spark.range(0, 40, 1, 2).selectExpr("id", "if(id % 10 = 3, null, double(id)) AS gap")
    with Cluster(function, nodes=options.pop("nodes", 1), feed=True, progress=False) as cluster:
        cluster.train(frame, **options)
        with caplog.at_level(logging.WARNING, logger="hopyard"):
            cluster.wait()
            cluster.wait()  # which says nothing once more
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "hopyard.feed.driver.feeding" and "model of its own" not in record.getMessage()
    ]


@pytest.mark.parametrize("function", [read_all, read_torch, read_tensorflow])
def test_nulls_that_a_function_got_as_nan_are_told_with_their_number(
    function: Callable[..., Any], spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    (told,) = warnings_after(function, spark, caplog)
    assert told.startswith("nulls were read as NaN (column 'gap': 4)")


@pytest.mark.parametrize("function", [read_gaps_as_zeros, read_gaps_as_nan, read_other_columns])
def test_nulls_that_are_not_read_or_are_meant_are_not_spoken_of(
    function: Callable[..., Any], spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    assert not warnings_after(function, spark, caplog)


def test_rows_to_validate_with_that_no_node_has_read_are_told(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    told = warnings_after(
        read_other_columns, spark, caplog, validation=spark.range(9).selectExpr("id", "1D AS gap")
    )
    assert [line.partition(":")[0] for line in told] == ["no node has read the rows to validate with"]


def test_rows_to_validate_with_that_one_node_has_read_are_read(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    held = spark.range(9).selectExpr("id", "1D AS gap")
    told = warnings_after(read_all_and_validate_on_the_chief, spark, caplog, nodes=2, validation=held)
    assert not [line for line in told if "validate" in line]
