"""Searches the best small Keras model for scikit-learn's digits, with a pruner or without; answers what it took.

For each ``{"pruner": "asha", "seed": 1}`` it runs one study over the same grid.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from benchmarks.feed_answers import answer
from optuna.trial import TrialState
from pyspark.sql import SparkSession

import hopyard
from hopyard.run.reporter import Reporter
from hopyard.search.api import grid_search

SLOTS = 2
EPOCHS = 27
BATCH = 32
SPACE: dict[str, list[Any]] = {
    "learning_rate": [0.0001, 0.0003, 0.001, 0.003, 0.01],
    "width": [16, 64, 256],
    "dropout": [0.0, 0.2, 0.4],
}


def train(learning_rate: float, width: int, dropout: float, seed: int, ctx: hopyard.NodeContext) -> float:
    """Trains a model; returns the accuracy after its best epoch, on digits that it has not seen."""
    os.environ["KERAS_BACKEND"] = "tensorflow"  # before Keras is imported
    import keras
    from keras import layers

    from hopyard.cli.demo.digits import load_digits

    keras.utils.set_random_seed(seed)
    training, test = load_digits(seed)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Flatten(),
            layers.Dense(width, activation="relu"),
            layers.Dropout(dropout),
            layers.Dense(10, activation="softmax"),
        ]
    )
    optimizer = keras.optimizers.Adam(learning_rate)
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    report = keras.callbacks.LambdaCallback(on_epoch_end=Best(Reporter(ctx)))
    history = model.fit(
        *training, epochs=EPOCHS, batch_size=BATCH, validation_data=test, verbose=0, callbacks=[report]
    )
    return float(max(history.history["val_accuracy"]))


class Best:
    """Tells the driver the best accuracy so far after each epoch, which may end the trial."""

    def __init__(self, report: Reporter) -> None:
        self._report = report
        self._best = 0.0

    def __call__(self, epoch: int, logs: Mapping[str, Any]) -> None:
        """Takes the figures of an epoch."""
        self._best = max(self._best, float(logs["val_accuracy"]))
        self._report(epoch + 1, accuracy=self._best)


def measure(session: SparkSession, *, pruner: str | None, seed: int) -> dict[str, float]:
    """Returns how many epochs a study took, and the best accuracy that it found."""
    study = grid_search(
        train,
        {**SPACE, "seed": seed},
        metric="accuracy",
        direction="max",
        pruner=pruner,
        parallel=SLOTS,
        spark=session,
        progress=False,
    )
    trials = study.optuna_study.get_trials(deepcopy=False)
    states = [trial.state for trial in trials]
    return {
        "trials": len(trials),
        "whole": states.count(TrialState.COMPLETE),
        "stopped": states.count(TrialState.PRUNED),
        "epochs": sum(len(trial.intermediate_values) for trial in trials),
        "best": study.best_value,
        "best trial": study.best_trial.number,
    }


if __name__ == "__main__":
    with hopyard.local_spark(executors=SLOTS) as spark:
        answer(lambda question: measure(spark, **question))
