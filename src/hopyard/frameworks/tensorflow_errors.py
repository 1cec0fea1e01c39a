"""Errors of Python code that TensorFlow calls: it raises one of its own, with the text and the traceback of the other."""

from __future__ import annotations

from collections.abc import Sequence


def hidden_error(error: Exception, noted: Sequence[Exception]) -> Exception | None:
    """Returns the error that one of TensorFlow was made of; None if it was made of none, or is not of TensorFlow.

    Args:
        error: What a function raised.
        noted: What was raised in code that TensorFlow had called.
    """
    if type(error).__module__.partition(".")[0] != "tensorflow":
        return None
    text = str(error)
    found = (each for each in reversed(noted) if f"{type(each).__name__}: {each}" in text)
    return next(found, None)
