from __future__ import annotations

import optuna
import pytest

from hopyard.errors import BadArguments, InvalidSearch, InvalidSpace
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.space.ablation import Ablation

pytestmark = pytest.mark.unit

COMPONENTS = {"features": ["age", "sex"], "layers": ["conv", "dense"]}


def train(features, layers, ctx=None):
    pass


def curious(features, layers, left_out):
    pass


def test_the_first_trial_has_everything_and_each_other_lacks_one_component() -> None:
    ablation = Ablation.of(COMPONENTS, train)
    assert [ablation.arguments(row) for row in ablation.rows] == [
        {"features": ["age", "sex"], "layers": ["conv", "dense"]},
        {"features": ["sex"], "layers": ["conv", "dense"]},
        {"features": ["age"], "layers": ["conv", "dense"]},
        {"features": ["age", "sex"], "layers": ["dense"]},
        {"features": ["age", "sex"], "layers": ["conv"]},
    ]


def test_a_function_that_asks_is_told_what_is_left_out() -> None:
    ablation = Ablation.of(COMPONENTS, curious)
    assert [ablation.arguments(row)["left_out"] for row in ablation.rows] == [
        None,
        "age",
        "sex",
        "conv",
        "dense",
    ]


def test_a_name_in_two_groups_is_qualified() -> None:
    ablation = Ablation.of({"encoder": ["dense", "conv"], "decoder": ["dense"]}, curious)
    assert [row["left_out"] for row in ablation.rows] == [None, "encoder.dense", "conv", "decoder.dense"]
    assert ablation.arguments({"left_out": "decoder.dense"})["decoder"] == []
    assert ablation.arguments({"left_out": "decoder.dense"})["encoder"] == ["dense", "conv"]


def test_an_ablation_runs_as_a_study() -> None:
    ablation = Ablation.of(COMPONENTS, train)
    study = optuna.create_study(sampler=RowsSampler(ablation.rows))
    for _ in ablation.rows:
        ablation.suggest(study.ask())
    assert [trial.params for trial in study.trials] == ablation.rows
    assert ablation.names == ablation.always == ("left_out",)
    assert study.trials[0].distributions == dict(ablation.distributions)


def test_a_function_has_to_take_all_groups() -> None:
    Ablation.of(COMPONENTS, train).check(train)
    Ablation.of(COMPONENTS, curious).check(curious)
    with pytest.raises(BadArguments, match="no parameter 'words'"):
        Ablation.of({"words": ["a"]}, train).check(train)


def test_the_description_has_the_components_by_group() -> None:
    assert Ablation.of(COMPONENTS, train).to_json() == COMPONENTS


@pytest.mark.parametrize(
    "components",
    [{"features": []}, {"features": "age"}, {"features": ["a", "a"]}, {"features": [1]}, {"left_out": ["a"]}],
)
def test_a_group_that_is_no_list_of_names_is_refused(components: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidSpace):
        Ablation.of(components, train)


def test_an_ablation_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidSearch, match="Give a dict"):
        Ablation.of({}, train)
