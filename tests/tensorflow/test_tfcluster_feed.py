"""Keras trains on the rows that Spark feeds, as the documents of TensorFlowOnSpark show it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tensorflowonspark import TFCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.tensorflow, pytest.mark.spark, pytest.mark.timeout(300)]


def fit(args: argparse.Namespace, ctx: Any) -> None:
    """Each worker fits a model of its own to the rows that it gets."""
    import numpy as np
    import tensorflow as tf

    from tensorflowonspark import TFNode

    feed = TFNode.DataFeed(ctx.mgr)

    def rows():
        while not feed.should_stop():
            batch = feed.next_batch(1)
            if len(batch) == 0:
                return
            x, y = batch[0]
            yield np.array([x], np.float32), np.array([y], np.float32)

    shapes = (tf.TensorSpec([1], tf.float32), tf.TensorSpec([1], tf.float32))
    data = tf.data.Dataset.from_generator(rows, output_signature=shapes).batch(args.batch_size)
    model = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1, use_bias=False)])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.02), loss="mse")
    model.fit(data, steps_per_epoch=args.steps, epochs=2, verbose=0)
    feed.terminate()  # the rows that are left are nobody's
    Path(args.output, f"{ctx.executor_id}.json").write_text(json.dumps(float(model.get_weights()[0][0, 0])))


def predict(args: argparse.Namespace, ctx: Any) -> None:
    import tensorflow as tf

    feed = ctx.get_data_feed(False)
    while not feed.should_stop():
        squares = tf.math.square(feed.next_batch(10))
        feed.batch_results(squares.numpy())


@pytest.fixture
def args(tmp_path: Path) -> argparse.Namespace:
    return argparse.Namespace(output=str(tmp_path), batch_size=8, steps=60)


def test_keras_fits_a_model_to_rows_from_a_generator(spark: SparkSession, args) -> None:
    sc = spark.sparkContext
    points = sc.parallelize([(x / 100, 3 * x / 100) for x in range(-400, 400)], 4)
    cluster = TFCluster.run(
        sc, fit, args, num_executors=2, num_ps=0, input_mode=TFCluster.InputMode.SPARK, master_node="chief"
    )
    cluster.train(points, num_epochs=10)
    cluster.shutdown(grace_secs=30)
    weights = [json.loads(file.read_text()) for file in Path(args.output).glob("*.json")]
    assert weights == pytest.approx([3.0, 3.0], abs=0.05)


def test_squares_of_all_rows_add_up(spark: SparkSession) -> None:
    sc = spark.sparkContext
    numbers = sc.parallelize([[x] for x in range(1000)], 10)
    cluster = TFCluster.run(
        sc, predict, tf_args={}, num_executors=2, num_ps=0, input_mode=TFCluster.InputMode.SPARK
    )
    assert cluster.inference(numbers).sum() == sum(x * x for x in range(1000))
    cluster.shutdown()
