"""TensorFlow, loaded by the first call that needs it."""

from __future__ import annotations

from typing import Any

from hopyard.errors import MissingDependency


def tensorflow(needed_for: str) -> Any:
    """Returns the module ``tensorflow``.

    Raises:
        MissingDependency: It is not installed.
    """
    try:
        import tensorflow as tf
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise MissingDependency("tensorflow", needed_for, "demo") from error
    return tf
