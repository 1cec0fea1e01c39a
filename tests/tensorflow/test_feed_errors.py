"""What goes wrong in a dataset that feeds Keras is told in our words, not in those of TensorFlow's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext
from hopyard.errors import NodeFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.tensorflow, pytest.mark.spark, pytest.mark.timeout(300)]


def compiled() -> Any:
    import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def fit_too_often(ctx: NodeContext) -> None:
    compiled().fit(ctx.feed().as_tf_dataset(4, label="y"), epochs=2, verbose=0)


def validate_with_nulls(ctx: NodeContext) -> None:
    held_out = ctx.feed("validation").as_tf_dataset(4, label="y")
    compiled().fit(ctx.feed().as_tf_dataset(4, label="y"), validation_data=held_out, verbose=0)


def fit_and_complain(ctx: NodeContext) -> None:
    try:
        fit_too_often(ctx)
    except Exception as error:
        raise ValueError(f"no model for today: {error}") from error


def failure(function: Callable[..., Any], spark: SparkSession) -> NodeFailed:
    rows = spark.range(0, 8, 1, 1).selectExpr(
        "array(cast(id AS float)) AS x", "int(if(id = 6, null, id)) AS y", "id >= 4 AS held"
    )
    with (
        pytest.raises(NodeFailed) as caught,
        Cluster(function, feed=True, backend="processes", progress=False) as cluster,
    ):
        cluster.train(rows, validation="held")
    return caught.value


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            fit_too_often,
            "NoMoreEpochs: the function asked for epoch 2, but the feed has only 1. Feed more (cluster.train(..., "
            "epochs=2)), or read as many as come: for epoch in feed.epochs().",
        ),
        (
            validate_with_nulls,
            "NullValues: column 'y' has 1 null(s) of type int32 in one batch, and an array cannot hold them. Say what "
            "stands for a null (fill_nulls={'y': 0}), or have Spark fill or drop them before (df.fillna, df.na.drop).",
        ),
    ],
)
def test_an_error_of_the_dataset_comes_out_as_itself(
    function: Callable[..., Any], message: str, spark: SparkSession
) -> None:
    error = failure(function, spark)
    assert error.message == message
    assert f"in {function.__name__}\n" in error.trace
    assert error.trace.endswith(f"hopyard.errors.{message}\n")
    for noise in ("Graph execution error", "PyFunc", "tensorflow_data.py"):
        assert noise not in str(error)


def predict_each(ctx: NodeContext) -> None:
    import keras

    feed = ctx.feed()
    model = keras.Sequential([keras.layers.Dense(1)])
    for x in feed.as_tf_dataset(16).map(lambda batch: batch["x"]).prefetch(2):
        feed.batch_results(model.predict(x, verbose=0))


def predict_all_mapped(ctx: NodeContext) -> None:
    import keras

    feed = ctx.feed()
    model = keras.Sequential([keras.layers.Dense(1)])
    feed.batch_results(model.predict(feed.as_tf_dataset(16).map(lambda batch: batch["x"]), verbose=0))


def test_predict_of_a_whole_dataset_is_an_error_and_no_long_wait(spark: SparkSession) -> None:
    # one partition, since the rows of a second one may come when it is too late
    rows = spark.range(0, 60, 1, 1).selectExpr("array(cast(id AS float)) AS x")
    with (
        pytest.raises(NodeFailed, match=r"60 rows have no results yet") as caught,
        Cluster(predict_all_mapped, feed=True) as cluster,
    ):
        cluster.inference(rows, "price float", feed_timeout=600).count()
    assert "predict_on_batch(batch)" in str(caught.value).splitlines()[0]


def test_predict_of_each_batch_is_waited_for(spark: SparkSession) -> None:
    rows = spark.range(0, 60, 1, 2).selectExpr("array(cast(id AS float)) AS x")
    with Cluster(predict_each, feed=True) as cluster:
        assert cluster.inference(rows, "price float").count() == 60


def test_what_the_function_makes_of_an_error_stays(spark: SparkSession) -> None:
    error = failure(fit_and_complain, spark)
    assert error.message.startswith("ValueError: no model for today: ")


def fit_by_name(ctx: NodeContext, **options: Any) -> list[float]:
    import keras

    area, rooms = keras.Input((1,), name="area"), keras.Input((1,), name="rooms")
    price = keras.layers.Dense(1, use_bias=False)(keras.layers.Concatenate()([area, rooms]))
    model = keras.Model({"area": area, "rooms": rooms}, price)
    model.compile(keras.optimizers.Adam(0.3), "mse")
    model.fit(ctx.feed().as_tf_dataset(32, label="price", **options), epochs=20, verbose=0)
    return [float(weight) for weight in model.get_weights()[0][:, 0]]


def fit_columns(ctx: NodeContext) -> list[float]:
    return fit_by_name(ctx, columns=["area", "rooms"])


@pytest.fixture
def houses(spark: SparkSession) -> Any:
    rows = spark.range(0, 512, 1, 1).selectExpr("rand(1) AS aaa", "rand(2) AS area", "rand(3) AS rooms")
    return rows.selectExpr("*", "3 * area + rooms AS price")


def test_a_column_that_a_model_has_no_input_for_is_an_error_and_not_taken_for_another(houses: Any) -> None:
    with (
        pytest.raises(
            NodeFailed, match="ColumnsDoNotFit: the feed gives the columns aaa, area, rooms"
        ) as caught,
        Cluster(fit_by_name, feed=True, backend="processes", progress=False) as cluster,
    ):
        cluster.train(houses, epochs=20)
    assert "columns=['area', 'rooms']" in str(caught.value)


def test_columns_that_are_chosen_reach_the_inputs_of_their_names(houses: Any) -> None:
    with Cluster(fit_columns, feed=True, backend="processes", progress=False) as cluster:
        cluster.train(houses, epochs=20)
        result = cluster.wait()
    assert result.value == pytest.approx([3.0, 1.0], abs=0.1)
