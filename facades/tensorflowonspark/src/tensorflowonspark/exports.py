"""Where exported models go, and the names of their inputs and outputs."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hopyard.store.location import Location
from hopyard.store.place import locate
from hopyard.store.registry import connect
from hopyard.store.transfer import copy_in

# TensorFlow itself writes to none of these any more. Hadoop's names of S3 mean the same buckets.
_STORES = {"hdfs": "hdfs", "webhdfs": "webhdfs", "memory": "memory", "s3": "s3", "s3a": "s3", "s3n": "s3"}
_MADE_UP_INPUT = re.compile(r"keras_tensor(_\d+)?")


@contextlib.contextmanager
def destination(export_dir: str, *, overwrite: bool) -> Iterator[str]:
    """Gives a path that TensorFlow can write to; what is written there is at `export_dir` afterwards.

    Args:
        export_dir: A local path, or a URL of HDFS, S3 or whatever else TensorFlow writes to.
        overwrite: Whether a folder in a store may be there already.

    Raises:
        AlreadyExists: There is something at the URL, and it is not to be overwritten.
    """
    protocol, separator, rest = export_dir.partition("://")
    if not separator or protocol not in _STORES:
        yield export_dir
        return
    with tempfile.TemporaryDirectory(prefix="hopyard-export-") as folder:
        local = Path(folder) / "model"
        yield str(local)
        _upload(local, f"{_STORES[protocol]}://{rest}", overwrite=overwrite)


def export_keras(model: Any, export_dir: str) -> None:
    """Writes a model of Keras 3 whose inputs and outputs are named as Keras 2 named them.

    Programs look them up by these names: an output is called after its layer, and an input that was given no
    name after the first layer of a sequential model (``conv2d_input``) or by its place (``input_1``). A
    model that is a class of its own has no such layers; it keeps the names that Keras gives.
    """
    import keras

    # an attribute that is missing: the layers of the model are not a graph, or have seen no input yet
    if not hasattr(model, "inputs") or not hasattr(model, "outputs"):
        model.export(export_dir, verbose=False)
        return
    named = keras.Model(model.inputs, dict(zip(_output_names(model), model.outputs, strict=True)))
    signature = [
        keras.InputSpec(shape=tensor.shape, dtype=tensor.dtype, name=name)
        for tensor, name in zip(model.inputs, _input_names(model), strict=True)
    ]
    # one argument: a tensor, or a list of them
    argument = signature if len(signature) == 1 else [signature]
    named.export(export_dir, verbose=False, input_signature=argument)


def _input_names(model: Any) -> list[str]:
    names = [tensor.name for tensor in model.inputs]
    sequential = not hasattr(model, "output_names")
    return [
        name
        if not _MADE_UP_INPUT.fullmatch(name)
        else f"{model.layers[0].name}_input"
        if sequential
        else f"input_{place}"
        for place, name in enumerate(names, start=1)
    ]


def _output_names(model: Any) -> list[str]:
    """Returns the names of the layers that make the outputs, those that repeat with a number."""
    # a sequential model has no list of names; its last layer makes its only output
    layers = getattr(model, "output_names", None) or [model.layers[-1].name]
    return [
        f"{name}_{layers[:place].count(name)}" if name in layers[:place] else name
        for place, name in enumerate(layers)
    ]


def _upload(local: Path, url: str, *, overwrite: bool) -> None:
    # A project knows how its store is reached; other places are reached as the environment says.
    place = locate(url)
    if place is not None:
        place.project.copy_in(local, place.relative, overwrite=overwrite)
        return
    location = Location.parse(url)
    copy_in(connect(location, {}), local, location.path, overwrite=overwrite, progress=None)
