from __future__ import annotations

import warnings
from typing import Any

import optuna
import pytest
from optuna.samplers import RandomSampler, TPESampler

from hopyard.errors import InvalidSearch, MissingDependency
from hopyard.search.samplers import by_name as samplers
from hopyard.search.samplers.by_name import sampler_for
from hopyard.search.samplers.evolution_sampler import DifferentialEvolutionSampler
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.space.ablation import Ablation
from hopyard.search.space.parameters import Choice, Range
from hopyard.search.space.space import Space
from hopyard.tracking import Direction

pytestmark = pytest.mark.unit

NAMES = ["tpe", "random", "gp", "cmaes", "qmc", "nsga2", "de", "differential_evolution"]
TRIALS = {"gp": 8}  # as many as it chooses at random; then it would load PyTorch, which takes seconds
BRANCHES = {"sgd": {"momentum": Range(0.0, 0.9)}, "adam": {}}
MIXED = Space.of({"x": Range(0.0, 1.0), "units": Range(1, 9), "kind": ["a", "b", "c"], "one": 1})
CONDITIONAL = Space.of({"x": Range(0.0, 1.0), "y": Range(0.0, 1.0), "optimizer": Choice(BRANCHES)})
MIN = [Direction.MIN]


def run(space: Space, sampler: optuna.samplers.BaseSampler, trials: int, parallel: int) -> optuna.Study:
    study = optuna.create_study(sampler=sampler)
    under_way = []
    for _ in range(trials):
        trial = study.ask()
        space.suggest(trial)
        under_way.append(trial)
        if len(under_way) == parallel:
            done = under_way.pop(0)
            study.tell(done, done.params["x"])
    return study


@pytest.mark.parametrize("space", [MIXED, CONDITIONAL], ids=["mixed", "conditional"])
@pytest.mark.parametrize("name", NAMES)
def test_every_sampler_takes_every_space_without_a_warning(name: str, space: Space) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sampler = sampler_for(name, space, seed=1, parallel=2, directions=MIN)
        study = run(space, sampler, TRIALS.get(name, 14), 2)
    assert len({trial.params["x"] for trial in study.trials}) == len(study.trials)
    assert all(set(space.always) <= set(trial.params) for trial in study.trials)


def test_the_default_is_tpe() -> None:
    assert isinstance(sampler_for(None, MIXED, directions=MIN), TPESampler)


def test_grid_plays_all_rows() -> None:
    space = Space.of({"a": [1, 2], "b": [3, 4]})
    sampler = sampler_for("grid", space, directions=MIN)
    assert isinstance(sampler, RowsSampler)
    assert sampler.total == 4


def test_grid_is_shuffled_for_a_pruner() -> None:
    space = Space.of({"a": list(range(9))})
    tried = []
    for is_pruned in (False, True):
        sampler = sampler_for("grid", space, directions=MIN, is_pruned=is_pruned)
        study = optuna.create_study(sampler=sampler)
        for _ in range(9):
            space.suggest(study.ask())
        tried.append([trial.params["a"] for trial in study.trials])
    assert tried[0] == list(range(9))
    assert tried[1] != tried[0]
    assert sorted(tried[1]) == tried[0]


def test_grid_needs_a_space_that_can_be_listed() -> None:
    with pytest.raises(InvalidSearch, match="'grid' does not fit this space"):
        sampler_for("grid", Ablation.of({"a": ["b"]}, print), directions=MIN)


def test_a_sampler_of_optuna_stays_as_it_is() -> None:
    own = RandomSampler()
    assert sampler_for(own, MIXED, directions=MIN) is own


def test_the_options_of_an_evolution_reach_it() -> None:
    sampler = sampler_for(
        "de", MIXED, directions=MIN, population=10, generations=4, synchronous=True, mutation=0.5
    )
    assert isinstance(sampler, DifferentialEvolutionSampler)
    assert sampler.total == 50


@pytest.mark.parametrize("sampler", ["tpe", "grid", RandomSampler()])
def test_an_option_that_a_sampler_does_not_have_is_refused(sampler: Any) -> None:
    with pytest.raises(InvalidSearch, match=r"the sampler .* has no option 'generations'. It has no options"):
        sampler_for(sampler, MIXED, directions=MIN, generations=3)


def test_an_unknown_sampler_is_refused_with_a_near_one() -> None:
    with pytest.raises(InvalidSearch, match=r"Did you mean 'random'. Use tpe, random, grid"):
        sampler_for("randon", MIXED, directions=MIN)


@pytest.mark.parametrize("name", ["cmaes", "de"])
def test_a_sampler_of_one_objective_refuses_several(name: str) -> None:
    with pytest.raises(InvalidSearch, match="takes one metric"):
        sampler_for(name, MIXED, directions=[Direction.MIN, Direction.MAX])


@pytest.mark.parametrize(("name", "package"), [("gp", "torch"), ("cmaes", "cmaes"), ("qmc", "scipy")])
def test_a_missing_package_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "find_spec", lambda wanted: None if wanted == package else object())
    with pytest.raises(MissingDependency, match=f"the sampler '{name}' needs the package '{package}'"):
        sampler_for(name, MIXED, directions=MIN)


def test_cmaes_needs_a_number_to_search() -> None:
    with pytest.raises(InvalidSearch, match="needs a Range"):
        sampler_for("cmaes", Space.of({"kind": ["a", "b"]}), directions=MIN)


def test_cmaes_takes_a_single_range() -> None:
    space = Space.of({"x": Range(0.0, 1.0)})
    run(space, sampler_for("cmaes", space, seed=0, directions=MIN), 8, 1)


@pytest.mark.parametrize("name", ["tpe", "random", "gp", "qmc", "nsga2"])
def test_others_take_several_objectives(name: str) -> None:
    sampler = sampler_for(name, MIXED, seed=0, directions=[Direction.MIN, Direction.MAX])
    study = optuna.create_study(sampler=sampler, directions=["minimize", "maximize"])
    trial = study.ask()
    MIXED.suggest(trial)
    study.tell(trial, [0.0, 1.0])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bayes", "'tpe' or 'gp'"),
        ("Bayesian", "'tpe' or 'gp'"),
        ("cma-es", "'cmaes'"),
        ("TPE", "'tpe'"),
        ("tp", "'tpe'"),
    ],
)
def test_a_sampler_is_suggested_by_spelling_or_meaning(name: str, meant: str) -> None:
    with pytest.raises(InvalidSearch, match=f"Did you mean {meant}\\?"):
        sampler_for(name, MIXED, directions=[Direction.MAX])


def test_a_sampler_that_nobody_can_guess_is_not_guessed() -> None:
    with pytest.raises(InvalidSearch, match=r"there is no sampler 'games'\. Use tpe, random"):
        sampler_for("games", MIXED, directions=[Direction.MAX])
