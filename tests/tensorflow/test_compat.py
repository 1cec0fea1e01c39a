from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from hopyard.errors import BadArguments
from hopyard.store import Project
from tensorflowonspark import compat

pytestmark = pytest.mark.tensorflow

ROWS = np.array([[1.0, 2.0], [3.0, 4.0]], dtype="float32")


def signature(folder: Path) -> Any:
    """Returns the default signature of an exported model, which lives as long as the model it is bound to."""
    loaded = tf.saved_model.load(str(folder))
    function = loaded.signatures["serving_default"]
    function.model = loaded
    return function


def names(folder: Path) -> tuple[set[str], set[str]]:
    function = signature(folder)
    return set(function.structured_input_signature[1]), set(function.structured_outputs)


@pytest.fixture(autouse=True)
def fresh_names() -> None:
    """Keras numbers the layers of a process; every test counts from the start."""
    keras.backend.clear_session()


class Doubler(tf.Module):
    """A model without Keras."""

    def __init__(self) -> None:
        self.factor = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="rows")])
    def __call__(self, rows: tf.Tensor) -> tf.Tensor:
        return rows * self.factor


class OneLayer(keras.Model):
    """A model that is a class of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = keras.layers.Dense(1)

    def call(self, rows: Any) -> Any:
        return self.layer(rows)


def test_a_sequential_model_keeps_its_numbers_and_the_names_of_keras_2(tmp_path: Path) -> None:
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(1)])
    expected = model(ROWS).numpy()
    compat.export_saved_model(model, str(tmp_path / "model"), is_chief=True)
    assert names(tmp_path / "model") == ({"dense_input"}, {"dense_1"})
    computed = signature(tmp_path / "model")(dense_input=tf.constant(ROWS))["dense_1"]
    np.testing.assert_allclose(computed.numpy(), expected, rtol=1e-6)


def test_a_functional_model_keeps_the_names_that_it_was_given(tmp_path: Path) -> None:
    image, other = keras.Input((2,), name="image"), keras.Input((2,))
    hidden = keras.layers.Dense(3)(keras.layers.Concatenate()([image, other]))
    model = keras.Model([image, other], [hidden, keras.layers.Dense(1, name="label")(hidden)])
    compat.export_saved_model(model, str(tmp_path / "model"), is_chief=True)
    assert names(tmp_path / "model") == ({"image", "input_2"}, {"dense", "label"})


def test_outputs_of_one_layer_are_told_apart(tmp_path: Path) -> None:
    rows, shared = keras.Input((2,), name="rows"), keras.layers.Dense(2)
    once = shared(rows)
    compat.export_saved_model(keras.Model(rows, [once, shared(once)]), str(tmp_path / "m"), is_chief=True)
    assert names(tmp_path / "m") == ({"rows"}, {"dense", "dense_1"})


def test_a_model_that_is_a_class_of_its_own_is_exported(tmp_path: Path) -> None:
    model = OneLayer()
    expected = model(ROWS).numpy()
    compat.export_saved_model(model, str(tmp_path / "model"), is_chief=True)
    function = signature(tmp_path / "model")
    (name,) = function.structured_input_signature[1]
    (computed,) = function(**{name: tf.constant(ROWS)}).values()
    np.testing.assert_allclose(computed.numpy(), expected, rtol=1e-6)


def test_a_model_without_keras_is_exported(tmp_path: Path) -> None:
    compat.export_saved_model(Doubler(), str(tmp_path / "model"), is_chief=True)
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded(ROWS).numpy(), ROWS * 2)


def test_a_model_of_tf_keras_is_exported(tmp_path: Path) -> None:
    import tf_keras  # a second Keras, which the other tests do without

    model = tf_keras.Sequential([tf_keras.layers.Dense(1, name="label", input_shape=(2,))])
    compat.export_saved_model(model, str(tmp_path / "model"), is_chief=True)
    computed = signature(tmp_path / "model")(label_input=tf.constant(ROWS))["label"]
    np.testing.assert_allclose(computed.numpy(), model(ROWS).numpy(), rtol=1e-6)


def test_an_export_replaces_the_one_before(tmp_path: Path) -> None:
    first, second = Doubler(), Doubler()
    second.factor.assign(5.0)
    compat.export_saved_model(first, str(tmp_path / "model"), is_chief=True)
    compat.export_saved_model(second, str(tmp_path / "model"), is_chief=True)
    assert tf.saved_model.load(str(tmp_path / "model")).factor.numpy() == 5.0


def test_the_export_of_another_node_than_the_chief_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    compat.export_saved_model(Doubler(), str(tmp_path / "model"))
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_model_is_exported_to_a_store_that_tensorflow_does_not_know(tmp_path: Path) -> None:
    project = Project.open("memory://tensorflow", "compat")
    compat.export_saved_model(Doubler(), project.url("Models/doubler/1"), is_chief=True)
    project.copy_out("Models/doubler/1", tmp_path / "model")
    np.testing.assert_allclose(tf.saved_model.load(str(tmp_path / "model"))(ROWS).numpy(), ROWS * 2)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match=r"builtins\.dict is neither"):
        compat.export_saved_model({}, str(tmp_path / "model"), is_chief=True)


def test_a_dataset_is_not_sharded_any_more() -> None:
    options = tf.data.Options()
    compat.disable_auto_shard(options)
    policy = options.experimental_distribute.auto_shard_policy
    assert policy == tf.data.experimental.AutoShardPolicy.OFF


def test_gpus_are_available_if_tensorflow_sees_some() -> None:
    assert compat.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
