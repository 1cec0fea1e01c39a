"""The training of the demo: a small convolutional network learns scikit-learn's handwritten digits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopyard.run.context import NodeContext

MODEL_FILE = "model.keras"
TEST_PART = 0.2


def train_digits(epochs: int, seed: int, ctx: NodeContext) -> float:
    """Trains on four fifths of the digits; returns the accuracy on the fifth that it has not seen.

    Leaves the model and TensorBoard's events in ``ctx.logdir``.
    """
    # before Keras is imported; the user's own choice of a back end is not this process's
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras

    keras.utils.set_random_seed(seed)
    training, test = load_digits(seed)
    model = build_model()
    model.summary()
    model.fit(
        *training,
        epochs=epochs,
        batch_size=32,
        validation_data=test,
        verbose=2,
        callbacks=[
            keras.callbacks.TensorBoard(ctx.logdir, histogram_freq=1),
            keras.callbacks.LambdaCallback(on_epoch_end=partial(report_epoch, ctx)),
        ],
    )
    model.save(Path(ctx.logdir, MODEL_FILE))
    _, accuracy = model.evaluate(*test, verbose=0)
    return float(accuracy)


def load_digits(seed: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Returns images (8 x 8, from 0 to 1) and labels, for training and for the test."""
    from sklearn.datasets import load_digits as load
    from sklearn.model_selection import train_test_split

    digits = load()
    images = (digits.images / 16.0).astype("float32")[..., None]
    seen, unseen, labels, unseen_labels = train_test_split(
        images, digits.target, test_size=TEST_PART, random_state=seed, stratify=digits.target
    )
    return (seen, labels), (unseen, unseen_labels)


def build_model() -> Any:
    """Returns the untrained network: two convolutions, then a dense layer."""
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(10, activation="softmax"),
        ],
        name="digits",
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def report_epoch(ctx: NodeContext, epoch: int, logs: Mapping[str, float]) -> None:
    """Reports what Keras says at the end of an epoch; `accuracy` is that on unseen digits."""
    ctx.report(epoch + 1, loss=logs["loss"], accuracy=logs["val_accuracy"])
