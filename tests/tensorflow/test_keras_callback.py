"""Keras reports its epochs, and ends with a trial that is to end."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from hopyard.errors import BadReport, TrialStopped
from hopyard.frameworks.keras import Keras
from hopyard.run.reporter import Reporter

pytestmark = pytest.mark.tensorflow


class Recorded:
    """A context that keeps what is reported, and is to end after some reports."""

    def __init__(self, reports: int = 1000) -> None:
        self.reported: list[tuple[int, dict[str, float]]] = []
        self._reports = reports

    def report(self, step: int, **metrics: float) -> None:
        self.reported.append((step, metrics))

    def should_stop(self) -> bool:
        return len(self.reported) >= self._reports


@pytest.fixture(params=["keras", "tf_keras"])
def package(request: pytest.FixtureRequest) -> str:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    pytest.importorskip(request.param)
    return str(request.param)


def fit(package: str, callback: Any, epochs: int) -> dict[str, list[float]]:
    """Trains a tiny model and returns what Keras itself noted of the epochs."""
    keras = pytest.importorskip(package)
    x = np.random.default_rng(0).normal(size=(32, 2)).astype(np.float32)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
    fitted = model.fit(
        x, x.sum(axis=1), validation_split=0.25, epochs=epochs, callbacks=[callback], verbose=0
    )
    history: dict[str, list[float]] = fitted.history
    return history


def test_each_epoch_is_reported_with_all_that_keras_logs(package: str) -> None:
    ctx = Recorded()
    history = fit(package, Reporter(ctx).as_keras_callback(package=package), epochs=2)
    assert set(history) == {"loss", "mae", "val_loss", "val_mae"}
    assert ctx.reported == [
        (epoch, {name: values[epoch] for name, values in history.items()}) for epoch in range(2)
    ]


def test_fit_ends_with_the_trial(package: str) -> None:
    ctx = Recorded(reports=2)
    with pytest.raises(TrialStopped, match="step 1"):
        fit(package, Reporter(ctx).as_keras_callback(package=package), epochs=5)
    assert [epoch for epoch, _ in ctx.reported] == [0, 1]


def test_logs_that_are_no_numbers_are_not_reported(package: str) -> None:
    ctx = Recorded()
    callback = Keras().callback(Reporter(ctx), package)
    callback.on_epoch_end(3, {"loss": np.float32(0.5), "f1_by_class": np.ones(3), "note": "text"})
    callback.on_epoch_end(4)
    assert ctx.reported == [(3, {"loss": 0.5})]


def test_scalars_of_tensorflow_are_reported_as_numbers(package: str) -> None:
    import tensorflow as tf

    ctx = Recorded()
    iterations = import_module(package).optimizers.SGD().iterations
    Reporter(ctx)(iterations, loss=tf.constant(0.5), accuracy=tf.Variable(0.25))
    assert ctx.reported == [(0, {"loss": 0.5, "accuracy": 0.25})]


def test_a_tensor_of_several_values_is_no_metric() -> None:
    import tensorflow as tf

    with pytest.raises(BadReport, match="the metric 'loss' is"):
        Reporter(Recorded())(0, loss=tf.constant([0.5, 0.25]))
