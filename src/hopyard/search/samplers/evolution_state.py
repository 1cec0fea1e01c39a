"""What has become of an evolution so far, learnt from the trials of a study as they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.trial import TrialState

from hopyard.search.samplers.evolution import Dimension, Population, Recipe, Vector, latin_hypercube, stranger
from hopyard.search.samplers.evolution_schedule import AtOnce, InGenerations, Move, Turn, Turns

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

NOTE = "hopyard:evolution"
FOUNDERS = (0, 1)  # names a stream of random numbers; those of the trials are named by one number


class EvolutionState:
    """Follows the trials of a study; a trial that has ended is looked at once, so that each turn costs the same.

    Args:
        dimensions: The coordinates of a vector.
        recipe: How candidates are made.
        size: How many members the population has.
        synchronous: Whether a generation is made of the one before when that is complete.
        sign: What makes small values good.
    """

    def __init__(
        self, dimensions: Sequence[Dimension], recipe: Recipe, *, size: int, synchronous: bool, sign: float
    ) -> None:
        self._width = len(dimensions)
        self._size = size
        self._sign = sign
        self._population = Population(dimensions, recipe, size=size)
        self._turns: Turns = InGenerations(size) if synchronous else AtOnce(size)
        self._synchronous = synchronous
        self._seen = 0
        self._open: list[int] = []  # numbers of trials that have not ended
        self._under_way: list[Move] = []
        self._waiting: list[Move] = []  # to compete: over, but of a generation that is not complete

    @property
    def under_way(self) -> Sequence[Move]:
        """The moves that are not over."""
        return self._under_way

    def follow(self, trials: Sequence[FrozenTrial]) -> None:
        """Takes what is new, in the order in which trials have ended.

        Args:
            trials: All of the study, by number.
        """
        looked_at = [*(trials[number] for number in self._open), *trials[self._seen :]]
        self._seen = len(trials)
        # a trial without a note is just being asked for, or not of this evolution
        unfinished = [trial for trial in looked_at if trial.datetime_complete is None]
        self._open = [trial.number for trial in unfinished]
        self._under_way = [self._move(trial) for trial in unfinished if self._is_mine(trial)]
        ended = [
            (trial.datetime_complete, trial.number, trial)
            for trial in looked_at
            if trial.datetime_complete is not None and self._is_mine(trial)
        ]
        over = [self._move(trial) for _, _, trial in sorted(ended, key=lambda each: each[:2])]
        for move in over:
            self._turns.note(move)
        for move in (*over, *self._under_way):
            self._population.avoid(np.array(move.vector))
        self._let_compete(over)

    def turn(self) -> Turn:
        """Returns what the next trial is for."""
        return self._turns.next(self._under_way)

    def vector(self, turn: Turn, seed: int, generator: np.random.Generator) -> Vector:
        """Returns what the next trial is to try.

        Args:
            turn: What it is for.
            seed: Of the evolution.
            generator: Of the trial.
        """
        population = self._population
        if turn.place in population.members and population.can_mutate:
            return population.propose(turn.place, generator)
        if self._turns.has_tried(turn.place) or any(move.place == turn.place for move in self._under_way):
            return stranger(self._width, generator)
        founders = latin_hypercube(self._size, self._width, np.random.default_rng([seed, *FOUNDERS]))
        founder: Vector = founders[turn.place]
        return founder

    def _let_compete(self, over: Sequence[Move]) -> None:
        """Lets moves compete for their places; those of a generation only when it is complete."""
        self._waiting.extend(move for move in over if move.value is not None)
        generation = self.turn().generation
        early = [move for move in self._waiting if self._synchronous and move.generation >= generation]
        for move in self._waiting:
            if move.value is not None and move not in early:
                self._population.compete(move.place, np.array(move.vector), move.value)
        self._waiting = early

    def _is_mine(self, trial: FrozenTrial) -> bool:
        """Returns whether a trial belongs to a population like this one; studies can be mixed."""
        note = trial.system_attrs.get(NOTE)
        return note is not None and note["place"] < self._size and len(note["vector"]) == self._width

    def _move(self, trial: FrozenTrial) -> Move:
        note: Mapping[str, Any] = trial.system_attrs[NOTE]
        value = None
        if trial.state is TrialState.COMPLETE:
            value = self._sign * trial.values[0]
        elif trial.state is TrialState.PRUNED:
            value = np.inf  # its last report is not comparable, but it is a member rather than a failure
        return Move(
            place=note["place"], generation=note["generation"], vector=tuple(note["vector"]), value=value
        )
