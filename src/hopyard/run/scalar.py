"""One number, as NumPy, PyTorch, TensorFlow and JAX have it, or Python itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopyard.errors import BadReport

LONGEST_SHOWN = 100
STEP_REMEDY = "Give a whole number, such as the number of the epoch"
METRIC_REMEDY = "Give one number, or an array or tensor that holds one"


def as_number(value: Any) -> float:
    """Returns a number, or what an array or tensor holds if that is one number.

    Raises:
        TypeError: It is something else, also text that spells a number.
    """
    if type(value) is float:
        return value
    item = getattr(value, "item", None)  # of arrays and tensors
    try:
        value = item() if callable(item) else value
        if isinstance(value, (str, bytes)):
            raise TypeError("it is text")
        return float(value)
    except (ValueError, RuntimeError, AttributeError) as error:  # the frameworks differ in what they raise
        raise TypeError(str(error)) from error


def as_step(value: Any) -> int:
    """Returns the number of a step.

    Raises:
        BadReport: It is no whole number; a bool is none.
    """
    if type(value) is int:
        return value
    try:
        number = as_number(value)
    except TypeError:
        raise BadReport("the step", shown(value), STEP_REMEDY) from None
    if not number.is_integer() or is_bool(value):
        raise BadReport("the step", shown(value), STEP_REMEDY)
    return int(number)


def as_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Returns the metrics of a step as numbers; NaN and infinity are numbers, too.

    Raises:
        BadReport: One of them is no number or has no name, or there are none.
    """
    if not metrics:
        raise BadReport("the list of metrics", "empty", "Give at least one, as in report(3, loss=0.5)")
    if "" in metrics:
        raise BadReport("the name of a metric", "empty", "Give it a name, as in report(3, loss=0.5)")
    return {name: _metric(name, value) for name, value in metrics.items()}


def is_bool(value: Any) -> bool:
    """Tells whether a value is a bool, or an array or tensor of them."""
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))


def shown(value: Any) -> str:
    """Returns a value with its type, as errors show it."""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{value!r:.{LONGEST_SHOWN}} (type {module}{kind.__qualname__})"


def _metric(name: str, value: Any) -> float:
    try:
        return as_number(value)
    except TypeError:
        raise BadReport(f"the metric {name!r}", shown(value), METRIC_REMEDY) from None
