from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.evolution import (
    Dimension,
    Population,
    Recipe,
    Strategy,
    latin_hypercube,
)

pytestmark = pytest.mark.unit

CONTINUOUS = [Dimension()] * 3


def founded(
    dimensions: list[Dimension], recipe: Recipe | None = None, *, size: int = 8, seed: int = 0
) -> Population:
    """Returns a population whose places are all taken, the first by the best."""
    population = Population(dimensions, recipe or Recipe(), size=size)
    founders = latin_hypercube(size, len(dimensions), np.random.default_rng(seed))
    for place, founder in enumerate(founders):
        population.compete(place, founder, float(place))
    return population


def test_founders_are_spread_over_each_coordinate() -> None:
    founders = latin_hypercube(10, 4, np.random.default_rng(0))
    assert [sorted((column * 10).astype(int)) for column in founders.T] == [list(range(10))] * 4


def test_a_candidate_takes_the_place_unless_it_is_worse() -> None:
    population = founded(CONTINUOUS)
    better, equal, worse = np.full(3, 0.1), np.full(3, 0.2), np.full(3, 0.3)
    assert population.compete(3, better, 1.5)
    assert population.compete(3, equal, 1.5)
    assert not population.compete(3, worse, 1.6)


def test_the_best_is_the_smallest() -> None:
    population = founded(CONTINUOUS)
    population.compete(5, np.full(3, 0.5), -7.0)
    vector, value = population.best
    assert value == -7.0
    assert vector.tolist() == [0.5, 0.5, 0.5]


def test_four_members_are_enough_to_mutate() -> None:
    population = Population(CONTINUOUS, Recipe(strategy=Strategy.RANDOM), size=20)
    for place in range(4):
        assert not population.can_mutate
        population.compete(place, np.full(3, place / 10), 0.0)
    assert population.can_mutate
    assert population.propose(2, np.random.default_rng(0)).shape == (3,)


@pytest.mark.parametrize("strategy", Strategy)
def test_candidates_stay_in_the_cube_and_do_not_pile_up_at_its_faces(strategy: Strategy) -> None:
    population = founded(CONTINUOUS, Recipe(strategy=strategy, mutation=(2.0, 2.0)))
    generator = np.random.default_rng(1)
    candidates = np.array([population.propose(1, generator) for _ in range(300)])
    assert ((candidates > 0) & (candidates < 1)).all()


def test_a_candidate_always_differs_from_the_member_it_challenges() -> None:
    population = founded(CONTINUOUS, Recipe(crossover=0.0))
    generator = np.random.default_rng(0)
    member = latin_hypercube(8, 3, np.random.default_rng(0))[4]
    changed = Counter(int((population.propose(4, generator) != member).sum()) for _ in range(100))
    assert changed == {1: 100}


def test_a_point_is_not_tried_twice_while_there_are_others() -> None:
    dimensions = [Dimension(cells=3), Dimension(cells=3, is_ordered=False)]
    population = Population(dimensions, Recipe(), size=4)
    generator = np.random.default_rng(0)
    for place in range(4):
        population.compete(place, np.array([place % 3, place // 3]) / 3 + 0.1, float(place))
    points = set()
    for _ in range(5):
        candidate = population.propose(0, generator)
        points.add(tuple((candidate * 3).astype(int)))
        population.avoid(candidate)
    assert len(points) >= 4


def choosing(*choices: int) -> Population:
    """Returns a population of a number and one of ten choices; the first is the best."""
    population = Population([Dimension(), Dimension(cells=10, is_ordered=False)], Recipe(), size=len(choices))
    for place, choice in enumerate(choices):
        population.compete(place, np.array([place / 100 + choice / 10, (choice + 0.5) / 10]), float(place))
    return population


def proposals(population: Population, place: int) -> list[tuple[float, int]]:
    generator = np.random.default_rng(0)
    candidates = [population.propose(place, generator) for _ in range(1000)]
    return [(number, int(choice * 10)) for number, choice in candidates]


def test_choices_come_from_members_more_often_than_from_anywhere() -> None:
    choices = Counter(choice for _, choice in proposals(choosing(2, 7, 2, 7, 2, 7), 4))
    assert choices[2] + choices[7] > 750
    assert len(choices) == 10


def test_choices_have_no_order() -> None:
    choices = Counter(choice for _, choice in proposals(choosing(0, 9, 0, 9, 0, 9), 4))
    between = [choices[choice] for choice in range(1, 9)]
    assert max(between) < 3 * min(between)


def test_numbers_evolve_among_members_of_the_same_choice() -> None:
    numbers = [number for number, choice in proposals(choosing(2, 7, 2, 7, 2, 7), 5) if choice == 7]
    assert 0.5 < np.median(numbers) < 0.9


def test_the_same_random_numbers_make_the_same_candidate() -> None:
    first, second = (founded(CONTINUOUS).propose(1, np.random.default_rng(5)) for _ in range(2))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ({"strategy": "best2exp"}, "best1bin, rand1bin"),
        ({"mutation": 0.0}, "above 0"),
        ({"mutation": 2.5}, "up to 2"),
        ({"mutation": (0.5, 0.6, 0.7)}, "two of them"),
        ({"crossover": 1.5}, "from 0 to 1"),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: dict[str, object], what: str) -> None:
    with pytest.raises(InvalidSearch, match=what):
        Recipe.of(**({"strategy": "best1bin", "mutation": 0.5, "crossover": 0.7} | setting))


def test_a_single_mutation_factor_does_not_vary() -> None:
    assert Recipe.of(strategy="rand1bin", mutation=0.8, crossover=0.9).mutation == (0.8, 0.8)
