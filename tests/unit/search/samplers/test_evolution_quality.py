"""How good the evolution is: as good as scipy's with as many evaluations, in the median of a few seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from hopyard.search.samplers.evolution import Dimension, Population, Recipe, Vector, latin_hypercube

pytestmark = pytest.mark.unit

SEEDS = range(5)
CONVERGED = 1e-8
CHOICES = ((0.5, 3.0), (-1.0, 0.0), (2.0, 4.0), (0.0, 1.0), (1.0, 2.5))  # where x is best, and what is added


def sphere(x: Vector) -> float:
    return float(((x - 0.3) ** 2).sum())


def rosenbrock(x: Vector) -> float:
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def rastrigin(x: Vector) -> float:
    return float(10 * len(x) + ((x - 0.7) ** 2 - 10 * np.cos(2 * np.pi * (x - 0.7))).sum())


def mixed(x: Vector) -> float:
    at, more = CHOICES[int(x[4])]
    return float((x[0] - at) ** 2 + (x[1] + 1.3) ** 2 + 0.3 * abs(x[2] - 7) + 0.2 * (x[3] + 3) ** 2 + more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A function, the bounds and kinds of its arguments, and how many evaluations there are."""

    function: Callable[[Vector], float]
    low: Vector
    high: Vector
    dimensions: tuple[Dimension, ...]
    size: int
    generations: int

    def at(self, vector: Vector, cells: Vector) -> Vector:
        """Returns the numbers that a vector of the unit cube stands for; a choice is its index."""
        stepped = self.low + np.minimum(np.floor(vector * cells), cells - 1)
        return np.where(cells > 1, stepped, self.low + vector * (self.high - self.low))

    def solve(self, seed: int) -> float:
        """Returns the best value that our evolution finds if trials end in the order in which they begin."""
        generator = np.random.default_rng(seed)
        cells = np.array([dimension.cells or 1 for dimension in self.dimensions])
        population = Population(self.dimensions, Recipe(), size=self.size)
        for place, founder in enumerate(latin_hypercube(self.size, len(self.low), generator)):
            population.compete(place, founder, self.function(self.at(founder, cells)))
        for _ in range(self.generations):
            for place in range(self.size):
                candidate = population.propose(place, generator)
                population.compete(place, candidate, self.function(self.at(candidate, cells)))
        return population.best[1]

    def solve_with_scipy(self, seed: int) -> float:
        """Returns the best value that scipy finds with as many evaluations."""
        solved = differential_evolution(
            self.function,
            list(zip(self.low, self.high, strict=True)),
            popsize=self.size // len(self.low),
            maxiter=self.generations,
            integrality=[dimension.cells is not None for dimension in self.dimensions],
            polish=False,
            tol=0,
            rng=seed,
        )
        assert solved.nfev == self.size * (self.generations + 1)
        return float(solved.fun)


def of_numbers(function: Callable[[Vector], float], *, generations: int) -> Problem:
    """Returns the problem to minimise a function of three numbers."""
    low = np.full(3, -5.0)
    return Problem(
        function=function,
        low=low,
        high=-low,
        dimensions=(Dimension(),) * 3,
        size=30,
        generations=generations,
    )


PROBLEMS = {
    "sphere": of_numbers(sphere, generations=15),
    "rosenbrock": of_numbers(rosenbrock, generations=40),
    "rastrigin": of_numbers(rastrigin, generations=60),
    "mixed": Problem(
        function=mixed,
        low=np.array([-5.0, -5.0, 0.0, -10.0, 0.0]),
        high=np.array([5.0, 5.0, 20.0, 10.0, 4.0]),
        dimensions=(
            *[Dimension()] * 2,
            *[Dimension(cells=21)] * 2,
            Dimension(cells=5, is_ordered=False),
        ),
        size=30,
        generations=20,
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_evolution_is_as_good_as_that_of_scipy(name: str) -> None:
    problem = PROBLEMS[name]
    ours = np.median([problem.solve(seed) for seed in SEEDS])
    theirs = np.median([problem.solve_with_scipy(seed) for seed in SEEDS])
    assert ours <= max(theirs, CONVERGED)
