from __future__ import annotations

import pytest

from hops.names import takes_names

pytestmark = pytest.mark.unit


@takes_names(popsize="population", maxiter="generations")
def evolve(
    function: str, population: int = 10, generations: int = 10, *, names: frozenset[str] = frozenset()
) -> tuple[object, ...]:
    return function, population, generations, names


def test_an_argument_may_have_any_of_its_names() -> None:
    assert evolve("f", popsize=4, maxiter=2) == ("f", 4, 2, {"popsize", "maxiter"})
    assert evolve("f", population=4) == ("f", 4, 10, {"population"})


def test_arguments_by_position_have_no_names() -> None:
    assert evolve("f", 4) == ("f", 4, 10, frozenset())


def test_an_argument_under_two_names_is_refused() -> None:
    with pytest.raises(TypeError, match=r"evolve\(\) got 'population' under two names"):
        evolve("f", population=4, popsize=5)


def test_an_unknown_argument_is_refused_as_always() -> None:
    with pytest.raises(TypeError, match="colour"):
        evolve("f", colour="red")
