from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import FixedTrial

from hopyard.errors import BadArguments, InvalidSearch, InvalidSpace
from hopyard.search.space.parameters import Choice, Range
from hopyard.search.space.space import SearchSpace, Space

pytestmark = pytest.mark.unit

OPTIMIZERS = {
    "sgd": {"momentum": Range(0.0, 0.9), "nesterov": [True, False]},
    "adam": {},
    "rms": {"momentum": Range(0.0, 0.9)},
}


def space_of(**raw: object) -> Space:
    return Space.of(raw)


def suggested(space: SearchSpace, params: Mapping[str, Any]) -> dict[str, Any]:
    trial = FixedTrial(dict(params))
    space.suggest(trial)
    return trial.params


def test_names_are_in_the_order_of_the_space_with_branches_where_they_belong() -> None:
    space = space_of(rate=Range(0.1, 1.0), optimizer=Choice(OPTIMIZERS), layers=3)
    assert space.names == ("rate", "optimizer", "momentum", "nesterov", "layers")
    assert space.always == ("rate", "optimizer", "layers")


def test_distributions_are_of_all_parameters() -> None:
    space = space_of(optimizer=Choice(OPTIMIZERS), layers=3)
    assert space.distributions["momentum"] == FloatDistribution(0.0, 0.9)
    assert space.distributions["layers"] == CategoricalDistribution([3])


def test_an_empty_space_has_one_trial_without_arguments() -> None:
    space = space_of()
    assert space.grid() == [{}]
    assert space.arguments({}) == {}


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"optimizer": "adam", "layers": 3}, ["optimizer", "layers"]),
        ({"optimizer": "rms", "momentum": 0.5, "layers": 3}, ["optimizer", "momentum", "layers"]),
    ],
)
def test_a_trial_has_only_the_parameters_of_its_branch(params: dict[str, Any], names: list[str]) -> None:
    space = space_of(optimizer=Choice(OPTIMIZERS), layers=3)
    assert list(suggested(space, params)) == names
    assert list(space.arguments({**params, "nesterov": True})) == names


def test_branches_can_be_nested() -> None:
    inner = Choice({"cosine": {"period": Range(1, 9)}, "flat": {}})
    space = space_of(optimizer=Choice({"sgd": {"schedule": inner}, "adam": {}}))
    params = {"optimizer": "sgd", "schedule": "cosine", "period": 4}
    assert suggested(space, params) == params
    assert space.arguments(params) == params


def test_every_kind_of_parameter_can_be_sampled() -> None:
    space = space_of(
        whole=Range(1, 9),
        log=Range(1, 99, log=True),
        even=Range(0, 8, step=2),
        real=Range(0.0, 1.0),
        kind=["a", "b"],
        one=7,
    )
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    trial = study.ask()
    space.suggest(trial)
    assert trial.distributions == dict(space.distributions)


def test_the_function_gets_objects_for_labels() -> None:
    space = space_of(shape=[(64, 32), (128,)], one=[1, True, 1.0])
    rows = space.grid()
    assert space.arguments(rows[0]) == {"shape": (64, 32), "one": 1}
    assert [type(space.arguments(row)["one"]) for row in rows[:3]] == [int, bool, float]


def test_the_last_parameter_of_a_grid_changes_fastest() -> None:
    space = space_of(learning_rate=[0.001, 0.0005, 0.0001], dropout=[0.45, 0.7])
    assert [tuple(row.values()) for row in space.grid()] == [
        (0.001, 0.45),
        (0.001, 0.7),
        (0.0005, 0.45),
        (0.0005, 0.7),
        (0.0001, 0.45),
        (0.0001, 0.7),
    ]


def test_the_branches_of_a_grid_multiply_by_themselves() -> None:
    branches = {"sgd": {"momentum": [0.0, 0.9]}, "adam": {}}
    space = space_of(optimizer=Choice(branches), batch=[16, 32])
    assert [tuple(row.values()) for row in space.grid()] == [
        ("sgd", 0.0, 16),
        ("sgd", 0.0, 32),
        ("sgd", 0.9, 16),
        ("sgd", 0.9, 32),
        ("adam", 16),
        ("adam", 32),
    ]


def test_a_grid_has_the_steps_of_a_range() -> None:
    assert [row["x"] for row in space_of(x=Range(0.0, 0.3, step=0.1)).grid()] == [0.0, 0.1, 0.2, 0.3]


def test_a_grid_over_a_range_without_a_step_is_refused() -> None:
    with pytest.raises(InvalidSpace, match=r"'x'.*give the range a step"):
        space_of(y=[1, 2], x=Range(0.0, 1.0)).grid()


def test_a_grid_that_would_never_end_is_refused() -> None:
    with pytest.raises(InvalidSearch, match="grid would have 1000000000001 trials"):
        space_of(x=Range(0, 10**12, step=1)).grid()


def test_rows_go_through_all_lists_at_once() -> None:
    lists = {"rate": [0.1, 0.1, 0.2], "shape": [(1,), (2,), (1, 2)], "epochs": 5}
    space = Space.of(lists)
    rows = [space.arguments(row) for row in space.rows(lists)]
    assert [tuple(row.values()) for row in rows] == [(0.1, (1,), 5), (0.1, (2,), 5), (0.2, (1, 2), 5)]


def test_rows_of_single_values_are_one_row() -> None:
    assert space_of(epochs=5).rows({"epochs": 5}) == [{"epochs": 5}]


def test_lists_of_different_lengths_make_no_rows() -> None:
    lists = {"a": [1, 2], "b": [1, 2, 3]}
    with pytest.raises(ValueError, match="Length of each function argument list must be equal"):
        space_of(**lists).rows(lists)


def test_a_range_makes_no_rows() -> None:
    lists = {"a": Range(0, 9)}
    with pytest.raises(InvalidSpace, match="a value for each trial"):
        space_of(**lists).rows(lists)


def test_the_description_of_a_space_can_be_read_as_a_space() -> None:
    space = space_of(
        rate=Range(1e-4, 0.1, log=True),
        even=Range(0, 8, step=2),
        units=Range(1, 9),
        batch=[16, 32, 64],
        optimizer=Choice(OPTIMIZERS),
        layers=3,
    )
    described = space.to_json()
    assert described["rate"] == {"low": 1e-4, "high": 0.1, "log": True}
    assert described["units"] == {"low": 1, "high": 9}
    assert Space.of(json.loads(json.dumps(described))) == space


def test_a_parameter_of_a_branch_needs_a_default_in_the_function() -> None:
    def needs(optimizer, momentum):
        pass

    def can_do_without(optimizer, momentum=0.0, nesterov=False):
        pass

    space = space_of(optimizer=Choice(OPTIMIZERS))
    space.check(can_do_without)
    with pytest.raises(BadArguments):
        space.check(needs)
