"""A program of TensorFlowOnSpark for Keras 2: on Keras 3 it is told what to do, and does it, it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hopyard.errors import NodeFailed
from tensorflowonspark import TFCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.tensorflow, pytest.mark.spark, pytest.mark.timeout(300)]


def fit(args: argparse.Namespace, ctx: Any) -> None:
    import numpy as np
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.02), loss="mse")
    checkpoints = tf.keras.callbacks.ModelCheckpoint(
        args.model_dir + "/weights-{epoch:04d}", save_weights_only=True
    )
    model.fit(np.ones((4, 1)), np.ones((4, 1)), verbose=0, callbacks=[checkpoints])


def test_a_keras_2_program_is_told_of_the_variable_and_runs_with_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = argparse.Namespace(model_dir=str(tmp_path))
    with pytest.raises(NodeFailed, match=r"must end in `?\.weights\.h5") as failed:
        TFCluster.run(spark.sparkContext, fit, args, 1, 0).shutdown()
    assert "TF_USE_LEGACY_KERAS=1" in str(failed.value)
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    TFCluster.run(spark.sparkContext, fit, args, 1, 0).shutdown()
    assert list(tmp_path.glob("weights-0001*"))
