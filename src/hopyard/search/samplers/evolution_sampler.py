"""Differential evolution as a sampler of Optuna's."""

# ruff: noqa: ARG002 -- Optuna tells a sampler more than this one needs

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.study import StudyDirection

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.evolution import FEWEST_MEMBERS, Recipe
from hopyard.search.samplers.evolution_state import NOTE, EvolutionState
from hopyard.search.samplers.own_sampler import OwnSampler
from hopyard.search.samplers.unit_cube import Axis

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

FIXED = "fixed_params"  # where Optuna keeps the parameters of a trial that was enqueued
MEMBERS_PER_DIMENSION = 15
FEWEST_BY_DEFAULT = 6
MOST_BY_DEFAULT = 60


class DifferentialEvolutionSampler(OwnSampler):
    """Evolves a population of trials, of which each place is held by the best one so far.

    Unless it is told to be synchronous, nothing waits: a trial competes for its place when it ends, and the next one
    is made of the members that there are. Trials that fail or are pruned lose. What a trial tries, and in whose place,
    is noted on it, so that another sampler with the same settings goes on where this one stopped.

    Args:
        distributions: Where the parameters may lie, by name; conditional ones evolve along whether they are used or not.
        population: How many members there are, at least 4; by default 15 for each parameter, from 6 to 60.
        generations: How many candidates there are for each place after the first population, which is generation 0:
            ``population * (generations + 1)`` trials in all. None for no end.
        mutation: Factor of the differences, or two bounds between which each trial draws its own, small ones more often.
        crossover: Probability of a number to be changed; of a choice it is half of that.
        strategy: ``best1bin`` varies the best of a random half, ``rand1bin`` any member: slower, less easily misled.
        synchronous: Whether a generation is made of the one before when that is complete, as in the textbook.
        seed: Makes the search repeatable, as far as the order is in which trials end.

    Raises:
        InvalidSearch: A setting is out of range, or there is nothing to search.
    """

    def __init__(
        self,
        distributions: Mapping[str, BaseDistribution],
        *,
        population: int | None = None,
        generations: int | None = None,
        mutation: float | Sequence[float] = (0.5, 1.0),
        crossover: float = 0.7,
        strategy: str = "best1bin",
        synchronous: bool = False,
        seed: int | None = None,
    ) -> None:
        self._searched = {name: where for name, where in distributions.items() if not where.single()}
        self._axes = {name: Axis(distribution=where) for name, where in self._searched.items()}
        self._recipe = Recipe.of(strategy=strategy, mutation=mutation, crossover=crossover)
        self._size = _size(population, len(self._axes))
        self._generations = generations
        self._synchronous = synchronous
        self._seed = seed
        self._followed: tuple[str, EvolutionState] | None = None
        if not self._axes:
            raise InvalidSearch(
                "the space has no parameter to vary", "Give a Range, or a list of several values"
            )
        if generations is not None and generations < 0:
            raise InvalidSearch(
                f"generations={generations} is not valid", "Give a number from 0, or None for no limit"
            )

    @property
    def total(self) -> int | None:
        """How many trials there are to be; None for no end."""
        return None if self._generations is None else self._size * (self._generations + 1)

    def is_ready(self, study: Study) -> bool:
        """Returns whether a trial may be asked for now: not while a generation waits for its last trials."""
        return self._state(study).turn().is_due

    def group(self, trial: FrozenTrial) -> str:
        """Returns the folder of the trial's generation if there are such."""
        note = trial.system_attrs.get(NOTE)
        return f"generation.{note['generation']}" if self._synchronous and note else ""

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Decides what a trial tries, and notes it; parameters of a trial that was enqueued stay as they are."""
        if len(study.directions) > 1:
            raise InvalidSearch(
                "differential evolution takes one metric", "For several, use the sampler nsga2, tpe or gp"
            )
        if NOTE in trial.system_attrs:
            return  # a trial that is repeated
        seed = self._seed_of(study)
        state = self._state(study)
        turn = state.turn()
        vector = state.vector(turn, seed, np.random.default_rng([seed, trial.number]))
        for index, (name, axis) in enumerate(self._axes.items()):
            if name in trial.system_attrs.get(FIXED, {}):
                vector[index] = axis.coordinate(trial.system_attrs[FIXED][name])
        note = {"place": turn.place, "generation": turn.generation, "vector": vector.tolist(), "seed": seed}
        self._remember(study, trial, NOTE, note)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Returns all parameters that vary."""
        return dict(self._searched)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Returns the values of all parameters at the trial's vector."""
        vector = self._recall(study, trial)[NOTE]["vector"]
        return {name: axis.value(at) for (name, axis), at in zip(self._axes.items(), vector, strict=True)}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Returns a random value for a parameter that the evolution does not know."""
        generator = np.random.default_rng([self._seed_of(study), trial.number, *param_name.encode()])
        return Axis(distribution=param_distribution).value(generator.random())

    def _seed_of(self, study: Study) -> int:
        """Returns the seed; without one of its own a sampler takes over the one that the study began with."""
        if self._seed is None:
            notes = (trial.system_attrs.get(NOTE) for trial in self._trials(study))
            known = next((int(note["seed"]) for note in notes if note), None)
            self._seed = int(np.random.SeedSequence().generate_state(1)[0]) if known is None else known
        return self._seed

    def _state(self, study: Study) -> EvolutionState:
        """Returns what has become of the study's trials until now."""
        if self._followed is None or self._followed[0] != study.study_name:
            state = EvolutionState(
                [axis.dimension for axis in self._axes.values()],
                self._recipe,
                size=self._size,
                synchronous=self._synchronous,
                sign=-1.0 if study.direction is StudyDirection.MAXIMIZE else 1.0,
            )
            self._followed = study.study_name, state
        state = self._followed[1]
        state.follow(self._trials(study))
        return state


def _size(population: int | None, dimensions: int) -> int:
    if population is None:
        return min(max(MEMBERS_PER_DIMENSION * dimensions, FEWEST_BY_DEFAULT), MOST_BY_DEFAULT)
    if population < FEWEST_MEMBERS:
        raise InvalidSearch(f"population={population} is not valid", f"Give at least {FEWEST_MEMBERS}")
    return population
