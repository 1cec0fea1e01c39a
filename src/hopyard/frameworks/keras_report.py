"""A Keras callback that reports the metrics of each epoch."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from numbers import Real
from typing import Any, Protocol


class Report(Protocol):
    """What takes the metrics, and may end the training by raising."""

    def __call__(self, step: int, /, **metrics: float) -> None:
        """Takes the metrics of a step."""


def keras_report(report: Report, package: str = "keras") -> Any:
    """Returns a callback that hands the numbers that Keras logs of an epoch to `report`.

    Args:
        report: Called at the end of each epoch; what it raises, ``fit`` raises.
        package: The Keras that the model is of: ``keras`` or ``tf_keras``.
    """
    # Each Keras asks its callbacks for methods of its own base class, so there is a class for either.
    base = import_module(f"{package}.callbacks").Callback
    return type("KerasReport", (_EpochEnds, base), {})(report)


class _EpochEnds:
    """What the callbacks for both versions of Keras have in common."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def on_epoch_end(self, epoch: int, logs: Mapping[str, object] | None = None) -> None:
        """Reports an epoch; Keras calls it."""
        numbers = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, Real)}
        if numbers:
            self._report(epoch, **numbers)
