"""Differential evolution of vectors in the unit cube: a population, candidates, and the contest between them.

After Storn and Price (1997): a candidate for a member's place is that member with some coordinates of a mutant, and
a mutant is one vector plus the scaled difference of two others. Small values are good. Nothing here waits: a candidate
can be made of any four members, and it competes when its value is known.

Two things differ from the textbook. The best vector is the best of a random half, so that one good vector does not
take over at once; and of the factors that scale differences small ones are more frequent, so that it is fast all the
same. Together they need fewer trials and end less often in a local minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hopyard.errors import InvalidSearch

Vector: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

FEWEST_MEMBERS = 4  # the one that is challenged, and three to make a mutant of
TRIES = 20
# Measured on functions of numbers and choices, against scipy's treatment of choices as numbers: often enough to find
# the best choice, seldom enough to find the best numbers for each before all but one die out.
CHOICES_SHARE = 0.5
STRAYS = 0.25


class Strategy(Enum):
    """Which vector is mutated, the best of some or any; ``bin``: each coordinate crosses over by its own chance."""

    BEST = "best1bin"
    RANDOM = "rand1bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One coordinate of the cube.

    Attributes:
        cells: How many cells of equal width it is divided into; None if any two numbers differ.
        is_ordered: Whether neighbouring cells are alike; those that stand for choices are not.
    """

    cells: int | None = None
    is_ordered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How candidates are made.

    Attributes:
        strategy: Which vector is mutated.
        mutation: Bounds of the factor that scales a difference; each candidate draws its own.
        crossover: Probability of a number to come from the mutant; of a choice it is half of that.
    """

    strategy: Strategy = Strategy.BEST
    mutation: tuple[float, float] = (0.5, 1.0)
    crossover: float = 0.7

    @classmethod
    def of(cls, *, strategy: str, mutation: float | Sequence[float], crossover: float) -> Recipe:
        """Returns a recipe from a user's settings; a single mutation factor is the same for all.

        Raises:
            InvalidSearch: A setting is out of range.
        """
        known = [kind.value for kind in Strategy]
        if strategy not in known:
            raise InvalidSearch(f"there is no strategy {strategy!r}", f"Use one of {', '.join(known)}")
        bounds = tuple(mutation) if isinstance(mutation, Sequence) else (mutation, mutation)
        if len(bounds) != 2 or not 0 < min(bounds) <= max(bounds) <= 2:
            raise InvalidSearch(
                f"mutation={mutation!r} is not valid", "Give a number above 0 and up to 2, or two of them"
            )
        if not 0 <= crossover <= 1:
            raise InvalidSearch(f"crossover={crossover!r} is not valid", "Give a probability, from 0 to 1")
        return cls(strategy=Strategy(strategy), mutation=(min(bounds), max(bounds)), crossover=crossover)

    def scale(self, generator: np.random.Generator) -> float:
        """Returns a factor to scale a difference with.

        Small ones are frequent: they refine, while the large ones keep the population from closing in too early.
        """
        low, high = self.mutation
        return float(low + (high - low) * generator.random() ** 3)


class Population:
    """The best vectors so far, one in each of a fixed number of places.

    Args:
        dimensions: The coordinates of a vector, at least one.
        recipe: How candidates are made.
        size: How many places there are.
    """

    def __init__(self, dimensions: Sequence[Dimension], recipe: Recipe, *, size: int) -> None:
        self._recipe = recipe
        self._vectors = np.zeros((size, len(dimensions)))
        self._values = np.full(size, np.inf)
        self._is_taken = np.zeros(size, dtype=bool)
        self._cells = np.array([dimension.cells or 0 for dimension in dimensions])
        self._has_cells = bool(self._cells.any())
        self._is_choice = np.array([not dimension.is_ordered for dimension in dimensions])
        self._crossover = np.where(self._is_choice, CHOICES_SHARE * recipe.crossover, recipe.crossover)
        self._tried: list[Vector] = []
        self._tried_points: set[bytes] = set()

    @property
    def members(self) -> list[int]:
        """The places that are taken."""
        return [int(place) for place in np.flatnonzero(self._is_taken)]

    @property
    def can_mutate(self) -> bool:
        """Whether there are enough members to make candidates of."""
        return len(self.members) >= FEWEST_MEMBERS

    @property
    def best(self) -> tuple[Vector, float]:
        """The best vector and its value."""
        place = int(np.argmin(self._values))
        return self._vectors[place].copy(), float(self._values[place])

    def compete(self, place: int, vector: Vector, value: float) -> bool:
        """Returns whether a vector, once its value is known, takes a place: it does unless it is worse."""
        self.avoid(vector)
        wins = not self._is_taken[place] or value <= self._values[place]
        if wins:
            self._vectors[place] = vector
            self._values[place] = value
            self._is_taken[place] = True
        return bool(wins)

    def avoid(self, vector: Vector) -> None:
        """Records that a point has been tried, or is being tried."""
        if self._has_cells:  # else no two vectors are the same point
            self._tried.append(vector)

    def propose(self, place: int, generator: np.random.Generator) -> Vector:
        """Returns a candidate for a place that is taken.

        It is a point that was not tried before, as far as one can be found: where all coordinates have cells, a
        population that has converged would try the same few points for ever.
        """
        if not self._has_cells:
            return self._candidate(place, generator)
        self._tried_points.update(point.tobytes() for point in self._points(self._tried))
        self._tried.clear()
        for _ in range(TRIES):
            candidate = self._candidate(place, generator)
            if self._points([candidate])[0].tobytes() not in self._tried_points:
                return candidate
        return stranger(len(self._cells), generator)

    def _candidate(self, place: int, generator: np.random.Generator) -> Vector:
        target = self._vectors[place]
        members = np.flatnonzero(self._is_taken)
        plus, minus = self._vectors[generator.permutation(members[members != place])[:2]]
        lead = self._vectors[self._lead(members, generator)]
        scale = self._recipe.scale(generator)
        crosses = generator.random(len(target)) < self._crossover
        crosses[generator.integers(len(target))] = True  # or nothing might change
        candidate = target
        if self._is_choice.any():
            choices = self._choose(lead, plus, minus, scale, generator)
            candidate = np.where(crosses & self._is_choice, choices, target)
            lead = self._vectors[self._lead(self._alike(candidate, members), generator)]
        mutant = _fold(lead + scale * (plus - minus))
        return np.where(crosses & ~self._is_choice, mutant, candidate)

    def _lead(self, members: Places, generator: np.random.Generator) -> int:
        """Returns the place of the vector that is mutated."""
        if self._recipe.strategy is Strategy.RANDOM:
            return int(generator.choice(members))
        half = members[generator.random(len(members)) < 0.5]
        pool = half if len(half) else members
        return int(pool[np.argmin(self._values[pool])])

    def _choose(
        self, lead: Vector, plus: Vector, minus: Vector, scale: float, generator: np.random.Generator
    ) -> Vector:
        """Returns the choices of a mutant; between choices there is no difference that could be scaled.

        They are those of the vector that is mutated. Where the two others differ, it is that of one of them with the
        probability ``scale``; and now and then it is any, because one that has died out may be the best.
        """
        moves = (self._cell(plus) != self._cell(minus)) & (generator.random(len(lead)) < scale)
        strays = generator.random(len(lead)) < STRAYS
        return np.where(strays, stranger(len(lead), generator), np.where(moves, plus, lead))

    def _alike(self, candidate: Vector, members: Places) -> Places:
        """Returns the members whose choices are most like a candidate's.

        What is a good number for one choice may be a bad one for another: numbers evolve among their like.
        """
        differs = self._cell(self._vectors[members]) != self._cell(candidate)
        strangeness = differs[:, self._is_choice].sum(axis=1)
        alike: Places = members[strangeness == strangeness.min()]
        return alike

    def _cell(self, vectors: Vector) -> Vector:
        cells: Vector = np.minimum(np.floor(vectors * self._cells), self._cells - 1)
        return cells

    def _points(self, vectors: Sequence[Vector]) -> Vector:
        """Returns what vectors have in common that stand for the same values: the cells of their coordinates."""
        coordinates = np.array(vectors).reshape(-1, len(self._cells))
        return np.where(self._cells > 0, self._cell(coordinates), coordinates)


def latin_hypercube(size: int, dimensions: int, generator: np.random.Generator) -> Vector:
    """Returns vectors of which each coordinate has one in each of `size` equal parts of its range."""
    parts = generator.permuted(np.tile(np.arange(size), (dimensions, 1)), axis=1).T
    return (parts + generator.random((size, dimensions))) / size


def stranger(dimensions: int, generator: np.random.Generator) -> Vector:
    """Returns a vector from anywhere in the cube."""
    return generator.random(dimensions)


def _fold(vector: Vector) -> Vector:
    """Returns a vector reflected at the bounds until it is within; at the bounds themselves it would pile up."""
    folded: Vector = 1 - np.abs(1 - vector % 2)
    return folded
