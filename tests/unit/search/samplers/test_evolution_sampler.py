from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import InMemoryStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import Trial, TrialState

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.evolution_sampler import NOTE, DifferentialEvolutionSampler
from hopyard.search.space.parameters import Choice, Range
from hopyard.search.space.space import Space

pytestmark = pytest.mark.unit

SPACE = Space.of(
    {
        "x": Range(-5.0, 5.0),
        "rate": Range(1e-5, 1.0, log=True),
        "units": Range(1, 64),
        "kind": ["a", "b", "c"],
        "fixed": 7,
    },
)


def sampler(**settings: Any) -> DifferentialEvolutionSampler:
    return DifferentialEvolutionSampler(SPACE.distributions, **({"seed": 1, "population": 8} | settings))


def study_of(chosen: DifferentialEvolutionSampler, **settings: Any) -> optuna.Study:
    return optuna.create_study(sampler=chosen, **settings)


def ask(study: optuna.Study) -> Trial:
    trial = study.ask()
    SPACE.suggest(trial)
    return trial


def loss(params: dict[str, Any]) -> float:
    """Is smallest at x=1, rate=0.01, units=20, kind=b."""
    away = abs(math.log10(params["rate"]) + 2) + abs(params["units"] - 20) / 20
    return (params["x"] - 1) ** 2 + away + (params["kind"] != "b")


def objective(trial: Trial) -> float:
    SPACE.suggest(trial)
    return loss(trial.params)


def tell(study: optuna.Study, trial: Trial) -> None:
    study.tell(trial, loss(trial.params))


def moves(study: optuna.Study) -> list[tuple[int, int]]:
    """Returns place and generation of all trials."""
    notes = [trial.system_attrs[NOTE] for trial in study.trials]
    return [(note["place"], note["generation"]) for note in notes]


@pytest.mark.parametrize("synchronous", [False, True])
def test_it_minimises_in_a_plain_study(synchronous: bool) -> None:
    study = study_of(sampler(population=12, synchronous=synchronous))
    study.optimize(objective, n_trials=160)
    assert study.best_value < 0.2
    assert study.best_params["kind"] == "b"


def test_it_maximises_in_a_plain_study() -> None:
    study = study_of(sampler(population=12), direction="maximize")
    study.optimize(lambda trial: -objective(trial), n_trials=160)
    assert study.best_value > -0.2


def test_the_first_population_is_spread_over_each_range() -> None:
    study = study_of(sampler(population=8))
    trials = [ask(study) for _ in range(8)]
    assert sorted(int((trial.params["x"] + 5) / 10 * 8) for trial in trials) == list(range(8))
    assert len({round(math.log10(trial.params["rate"]) * 8 / 5 + 0.001) for trial in trials}) > 5


def test_the_first_population_counts_as_a_generation() -> None:
    assert sampler(population=10, generations=10).total == 110
    assert sampler().total is None


def test_it_does_not_wait_for_the_whole_first_population() -> None:
    study = study_of(sampler(population=8))
    trials = [ask(study) for _ in range(8)]
    for trial in trials[2:7]:
        tell(study, trial)
    ask(study)
    assert moves(study)[-1] == (2, 1)
    assert study.sampler.is_ready(study)


def test_more_parallel_trials_than_members_find_work() -> None:
    study = study_of(sampler(population=4))
    trials = [ask(study) for _ in range(12)]
    assert len({tuple(trial.params.values()) for trial in trials}) == 12
    for trial in trials:
        tell(study, trial)
    assert len({tuple(ask(study).params.values()) for _ in range(12)}) == 12


def test_a_generation_waits_for_the_one_before() -> None:
    study = study_of(sampler(population=4, synchronous=True))
    trials = [ask(study) for _ in range(4)]
    for trial in trials:
        assert not study.sampler.is_ready(study)
        tell(study, trial)
    assert study.sampler.is_ready(study)
    ask(study)
    assert [study.sampler.group(trial) for trial in study.trials] == ["generation.0"] * 4 + ["generation.1"]


def test_a_generation_is_made_of_the_one_before_only() -> None:
    together, one_by_one = (study_of(sampler(population=5, synchronous=True)) for _ in range(2))
    for study in (together, one_by_one):
        for _ in range(5):
            tell(study, ask(study))
    trials = [ask(together) for _ in range(5)]
    for trial in trials:
        assert ask(one_by_one).params == trial.params
        tell(one_by_one, optuna.Trial(one_by_one, trial._trial_id))


def test_trials_without_generations_have_no_group() -> None:
    study = study_of(sampler())
    ask(study)
    assert study.sampler.group(study.trials[0]) == ""


@pytest.mark.parametrize("synchronous", [False, True])
@pytest.mark.parametrize("seed", [3, None])
def test_a_resumed_study_goes_on_exactly(synchronous: bool, seed: int | None) -> None:
    storage = InMemoryStorage()
    settings = {"synchronous": synchronous, "seed": seed, "population": 5}
    first = study_of(sampler(**settings), storage=storage, study_name="s")
    for _ in range(13):
        tell(first, ask(first))
    resumed = optuna.load_study(storage=storage, study_name="s", sampler=sampler(**settings))
    next_one = ask(resumed)
    study_id = storage.get_study_id_from_name("s")
    other = optuna.create_study(sampler=sampler(**settings))
    other.sampler._seed = first.sampler._seed
    for trial in storage.get_all_trials(study_id)[:13]:
        other.add_trial(trial)
    assert ask(other).params == next_one.params


def test_a_study_in_a_file_goes_on_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    def trials_of(study: optuna.Study, count: int) -> list[dict[str, Any]]:
        for _ in range(count):
            tell(study, ask(study))
        return [trial.params for trial in study.trials]

    def opened() -> JournalStorage:
        return JournalStorage(JournalFileBackend(str(tmp_path / "journal")))

    trials_of(study_of(sampler(population=5), storage=opened(), study_name="s"), 13)
    resumed = optuna.load_study(storage=opened(), study_name="s", sampler=sampler(population=5))
    assert trials_of(resumed, 9) == trials_of(study_of(sampler(population=5)), 22)


@pytest.mark.parametrize("synchronous", [False, True])
def test_a_sampler_that_was_there_from_the_start_knows_what_one_learns_that_comes_later(
    synchronous: bool,
) -> None:
    chance = random.Random(1)
    settings = {"synchronous": synchronous, "population": 5}
    storage = InMemoryStorage()
    study = study_of(sampler(**settings), storage=storage, study_name="s")
    under_way: list[Trial] = []
    while len(study.trials) < 40:
        late = optuna.load_study(storage=storage, study_name="s", sampler=sampler(**settings))
        assert study.sampler.is_ready(study) == late.sampler.is_ready(late)
        if len(under_way) < 3 and study.sampler.is_ready(study):
            asking = (study, late)[
                chance.random() < 0.1
            ]  # also one by another sampler, as of another process
            under_way.append(ask(asking))
            course, later = study.sampler._state(study), late.sampler._state(late)
            turn = course.turn()
            assert later.turn() == turn
            vectors = [each.vector(turn, 1, np.random.default_rng(2)) for each in (course, later)]
            assert vectors[0].tolist() == vectors[1].tolist()
        else:
            ended = under_way.pop(chance.randrange(len(under_way)))
            if chance.random() < 0.2:
                study.tell(ended, state=TrialState.FAIL)
            else:
                tell(study, ended)


def test_a_founder_that_failed_is_replaced_by_a_new_one() -> None:
    study = study_of(sampler(population=4))
    trials = [ask(study) for _ in range(4)]
    study.tell(trials[0], state=TrialState.FAIL)
    for trial in trials[1:]:
        tell(study, trial)
    replacement = ask(study)
    assert moves(study)[-1][0] == 0
    assert replacement.params["x"] != trials[0].params["x"]


def test_a_pruned_trial_loses_against_any_other() -> None:
    study = study_of(sampler(population=4, synchronous=True))
    pruned = ask(study)
    pruned.report(-1000.0, 0)
    study.tell(pruned, state=TrialState.PRUNED)
    for _ in range(3):
        tell(study, ask(study))
    for _ in range(4):
        tell(study, ask(study))
    assert moves(study)[4:] == [(place, 1) for place in range(4)]
    assert study.sampler._state(study)._population.best[1] > -1000


def test_an_enqueued_trial_keeps_its_parameters_and_takes_part_with_them() -> None:
    study = study_of(sampler(population=4))
    params = {"x": 1.0, "rate": 0.01, "units": 20, "kind": "b", "fixed": 7}
    study.enqueue_trial(params)
    trial = ask(study)
    assert trial.params == params
    (move,) = study.sampler._state(study).under_way
    assert move.vector == pytest.approx((0.6, 0.6, 19.5 / 64, 0.5))


def test_parameters_of_other_branches_evolve_along() -> None:
    branches = {"sgd": {"momentum": Range(0.0, 0.9)}, "adam": {}}
    space = Space.of({"optimizer": Choice(branches), "x": Range(0.0, 1.0)})
    study = study_of(DifferentialEvolutionSampler(space.distributions, population=6, seed=0))

    def conditional(trial: Trial) -> float:
        space.suggest(trial)
        return trial.params["x"] + abs(trial.params.get("momentum", -1.0) - 0.5)

    study.optimize(conditional, n_trials=60)
    assert all(len(trial.system_attrs[NOTE]["vector"]) == 3 for trial in study.trials)
    assert study.best_value < 0.1


def test_a_parameter_it_does_not_know_is_random() -> None:
    study = study_of(DifferentialEvolutionSampler({"x": FloatDistribution(0, 1)}, seed=0))
    values = [study.ask().suggest_float("y", 0, 1) for _ in range(5)]
    assert len(set(values)) == 5


def test_under_hyperband_it_sees_all_trials() -> None:
    study = study_of(sampler(population=4), pruner=optuna.pruners.HyperbandPruner(max_resource=9))
    study.optimize(objective, n_trials=12)
    assert moves(study) == [(place, generation) for generation in range(3) for place in range(4)]


@pytest.mark.parametrize(("dimensions", "size"), [(1, 15), (3, 45), (10, 60)])
def test_the_population_grows_with_the_parameters_within_bounds(dimensions: int, size: int) -> None:
    distributions = {f"x{index}": FloatDistribution(0, 1) for index in range(dimensions)}
    assert DifferentialEvolutionSampler(distributions, generations=0).total == size


@pytest.mark.parametrize(
    "settings", [{"population": 3}, {"generations": -1}, {"strategy": "x"}, {"mutation": 9}]
)
def test_impossible_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidSearch):
        sampler(**settings)


def test_there_has_to_be_something_to_vary() -> None:
    with pytest.raises(InvalidSearch, match="no parameter to vary"):
        DifferentialEvolutionSampler({"one": CategoricalDistribution([1]), "two": IntDistribution(2, 2)})


def test_several_objectives_are_refused() -> None:
    study = study_of(sampler(), directions=["minimize", "minimize"])
    with pytest.raises(InvalidSearch, match="takes one metric"):
        study.ask()


def test_notes_are_plain_json() -> None:
    study = study_of(sampler(seed=int(np.int64(3))))
    ask(study)
    note = study.trials[0].system_attrs[NOTE]
    assert [type(note[key]) for key in ("place", "generation", "seed")] == [int, int, int]
