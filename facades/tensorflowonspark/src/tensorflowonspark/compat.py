"""What differs between the versions of TensorFlow and Keras; ``from tensorflowonspark import compat``."""

from __future__ import annotations

import tempfile
from typing import Any

from hopyard.errors import BadArguments
from tensorflowonspark.exports import destination, export_keras
from tensorflowonspark.framework import tensorflow


def export_saved_model(model: Any, export_dir: str, is_chief: bool = False) -> None:
    """Exports a model as a TensorFlow SavedModel; every node calls it, and the chief's is kept.

    The other nodes take part, as saving may need all replicas of a variable, and throw away what they wrote.

    Args:
        model: A model of Keras 3 or tf_keras, or a ``tf.Module``.
        export_dir: A local path or a URL, such as ``ctx.absolute_path()`` returns.
        is_chief: Whether this node is the one that exports.

    Raises:
        BadArguments: The model is of another kind.
    """
    if is_chief:
        with destination(export_dir, overwrite=True) as folder:
            _save(model, folder)
    else:
        with tempfile.TemporaryDirectory(prefix="worker_model-") as folder:
            _save(model, folder)


def disable_auto_shard(options: Any) -> None:
    """Lets every worker read the whole dataset of these ``tf.data.Options``."""
    policies = tensorflow("compat.disable_auto_shard()").data.experimental.AutoShardPolicy
    options.experimental_distribute.auto_shard_policy = policies.OFF


def is_gpu_available() -> bool:
    """Returns whether TensorFlow sees a GPU."""
    return bool(tensorflow("compat.is_gpu_available()").config.list_physical_devices("GPU"))


def _save(model: Any, folder: str) -> None:
    tf = tensorflow("compat.export_saved_model()")
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    # told by name: importing one Keras to ask whether the model is of the other takes seconds
    if "tf_keras" in packages:
        model.save(folder, save_format="tf")
    elif "keras" in packages:
        export_keras(model, folder)
    elif isinstance(model, tf.Module):
        tf.saved_model.save(model, folder)
    else:
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        raise BadArguments("export_saved_model", f"{kind} is neither a Keras model nor a tf.Module")
