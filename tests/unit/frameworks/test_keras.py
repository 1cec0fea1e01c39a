"""Which Keras a program gets, and what it is told if it was made for another one."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

import hopyard
from hopyard.errors import NodeFailed
from hopyard.frameworks.keras import Keras
from hopyard.frameworks.registry import driver_variables
from hopyard.search.api import grid_search

pytestmark = pytest.mark.unit


class Speechless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def notes(error: Exception, version: str) -> list[str]:
    """Returns what an error is told with a version of Keras."""
    assert Keras().explain(error, SimpleNamespace(__version__=version), ()) is error
    return getattr(error, "__notes__", [])


def read_choice() -> str:
    return os.environ.get("TF_USE_LEGACY_KERAS", "not set")


def read_choice_in_a_trial(x: int) -> dict[str, float]:
    return {"metric": float(os.environ.get("TF_USE_LEGACY_KERAS", "0"))}


def fail_as_keras_3_does() -> None:
    import sys
    import types

    sys.modules["keras"] = types.SimpleNamespace(__version__="3.15.1")  # type: ignore[assignment]
    raise ValueError("When using `save_weights_only=True`, the filepath must end in `.weights.h5`")


@pytest.mark.parametrize(
    "text",
    [
        "When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end in `.weights.h5`",
        "The filepath provided must end in `.keras` (Keras model format). Received: filepath=/m",
        "Invalid filepath extension for saving. Please add either a `.keras` extension",
        "Attempt to convert a value (PerReplica:{0: 1}) with an unsupported type to a Tensor",
        "To use this dataset, you need to pass this dataset to ClusterCoordinator.create_per_worker_dataset",
        "Argument(s) not recognized: {'lr': 0.1}",
        "'Sequential' object has no attribute 'fit_generator'",
        "TensorFlowTrainer.fit() got an unexpected keyword argument 'workers'",
    ],
)
def test_errors_of_keras_2_programs_on_keras_3_are_explained(text: str) -> None:
    (note,) = notes(ValueError(text), "3.15.1")
    assert "TF_USE_LEGACY_KERAS=1" in note
    assert "pip install tf_keras" in note
    assert notes(ValueError(text), "2.15.0") == []


@pytest.mark.parametrize(
    "text", ["shapes (3,) and (4,) do not fit", "module 'keras' has no attribute 'estimator'"]
)
def test_errors_that_keras_2_does_not_cure_are_left_alone(text: str) -> None:
    assert notes(ValueError(text), "3.15.1") == []


def test_an_error_that_cannot_tell_its_text_is_left_alone() -> None:
    assert notes(Speechless(), "3.15.1") == []


def test_the_variables_of_the_driver_are_found() -> None:
    environ = {"TF_USE_LEGACY_KERAS": "1", "HOME": "/root", "KERAS_BACKEND": "torch"}
    assert driver_variables(environ) == {"TF_USE_LEGACY_KERAS": "1", "KERAS_BACKEND": "torch"}


def test_a_run_and_a_trial_get_the_choice_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    assert hopyard.launch(read_choice, backend="processes").value == "1"
    study = grid_search(read_choice_in_a_trial, {"x": [1]}, backend="processes", parallel=1)
    assert study.best_value == 1.0


def test_the_error_of_a_node_ends_with_the_advice() -> None:
    with pytest.raises(NodeFailed) as failed:
        hopyard.launch(fail_as_keras_3_does, backend="processes")
    assert "TF_USE_LEGACY_KERAS=1" in failed.value.trace
    assert "TF_USE_LEGACY_KERAS=1" in str(failed.value)
