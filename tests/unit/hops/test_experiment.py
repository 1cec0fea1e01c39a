from __future__ import annotations

from collections.abc import Callable

import pytest

from hops import allreduce, experiment, tflauncher
from hopyard.errors import BadArguments, InvalidSetting, NoActiveSpark, NotOffered, PathNotFound

pytestmark = pytest.mark.unit


def training(learning_rate: float, dropout: float) -> None:
    """Never called here."""


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="Length of each function argument list must be equal"):
        tflauncher.launch(training, {"learning_rate": [0.1, 0.2], "dropout": [0.5]})


def test_several_combinations_need_spark() -> None:
    with pytest.raises(NoActiveSpark):
        experiment.launch(training, {"learning_rate": [0.1, 0.2], "dropout": [0.5, 0.6]})


def test_an_argument_that_the_function_lacks_is_refused_before_anything_runs() -> None:
    with pytest.raises(BadArguments, match="no parameter 'drop'"):
        experiment.grid_search(training, {"learning_rate": [0.1, 0.2], "drop": [0.5]})


@pytest.mark.parametrize(
    "search",
    [
        experiment.grid_search,
        experiment.random_search,
        experiment.evolutionary_search,
        experiment.differential_evolution,
    ],
)
def test_a_search_needs_spark(search: Callable[..., object]) -> None:
    with pytest.raises(NoActiveSpark):
        search(training, {"learning_rate": [0.001, 0.0001], "dropout": [0.45, 0.7]}, direction="max")


def test_an_evolution_takes_the_arguments_of_every_release() -> None:
    bounds = {"learning_rate": [0.001, 0.0001], "dropout": [0.45, 0.7]}
    with pytest.raises(NoActiveSpark):
        experiment.evolutionary_search(
            objective_function=training,
            search_dict=bounds,
            maxiter=1,
            popsize=4,
            mutationfactor=0.5,
            cleanup=True,
        )
    with pytest.raises(NoActiveSpark):
        experiment.differential_evolution(
            train_fn=training, boundary_dict=bounds, generations=1, population=4, optimization_key="accuracy"
        )


def test_a_name_in_the_place_of_the_cleanup_is_refused() -> None:
    with pytest.raises(TypeError, match="give name= by its name"):
        experiment.differential_evolution(training, {"dropout": [0.1, 0.5]}, "max", 4, 6, 0.5, 0.7, "mine")


def test_a_setting_that_means_nothing_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPYARD_HOPS_RETURNS", "lists")
    with pytest.raises(InvalidSetting):
        experiment.launch(training, {"learning_rate": [0.1], "dropout": [0.5]})


def test_versioned_resources_that_are_not_there_are_refused_before_anything_is_started() -> None:
    with pytest.raises(PathNotFound, match=r"Resources/none\.py"):
        experiment.grid_search(training, {"learning_rate": [0.1]}, versioned_resources=["Resources/none.py"])


def test_tfcluster_is_found_where_it_was() -> None:
    from hops.tensorflowonspark import TFCluster

    assert experiment.TFCluster is TFCluster


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
