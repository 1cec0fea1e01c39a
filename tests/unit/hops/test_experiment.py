from __future__ import annotations

import pytest

from hops import allreduce, experiment, tflauncher
from hopyard.errors import NoActiveSpark, NotOffered

pytestmark = pytest.mark.unit


def training(learning_rate: float, dropout: float) -> None:
    """Never called here."""


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="Length of each function argument list must be equal"):
        tflauncher.launch(training, {"learning_rate": [0.1, 0.2], "dropout": [0.5]})


def test_several_combinations_are_not_offered_yet() -> None:
    with pytest.raises(NotOffered, match=r"2 combinations.*parallel trials are coming"):
        experiment.launch(training, {"learning_rate": [0.1, 0.2], "dropout": [0.5, 0.6]})


def test_versioned_resources_are_not_offered() -> None:
    with pytest.raises(NotOffered, match="versioned_resources"):
        experiment.launch(training, versioned_resources=["Resources/code.py"])


def test_a_launch_needs_spark() -> None:
    with pytest.raises(NoActiveSpark):
        tflauncher.launch(training, {"learning_rate": [0.1], "dropout": [0.5]})


@pytest.mark.parametrize(
    "train", [experiment.parameter_server, experiment.collective_all_reduce, experiment.mirrored]
)
def test_training_on_all_executors_needs_spark(train) -> None:
    with pytest.raises(NoActiveSpark):
        train(training, "name")


def test_all_reduce_has_its_first_name_still() -> None:
    assert experiment.allreduce is experiment.collective_all_reduce


def test_a_notebook_is_not_run_under_horovod() -> None:
    with pytest.raises(NotOffered, match=r"horovod\.ipynb.*collective_all_reduce"):
        allreduce.launch("/Projects/demo/Jupyter/horovod.ipynb")
