from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import hopyard
from hopyard.errors import BadArguments
from hopyard.search.option_names import _ELSEWHERE
from hopyard.search.options import SearchOptions

pytestmark = pytest.mark.unit
SEARCHES = ["search", "grid_search", "random_search", "differential_evolution", "ablation"]


def train(rate: float, layers: int = 1) -> float:
    return rate * layers


UNKNOWN = [
    ("search", "n_trials", "use 'trials'"),
    ("search", "num_samples", "use 'trials'"),
    ("search", "max_evals", "use 'trials'"),
    ("search", "n_jobs", "use 'parallel'"),
    ("search", "parallelism", "use 'parallel'"),
    ("search", "mode", "use 'direction'"),
    ("search", "study_name", "use 'name'"),
    ("search", "scheduler", "use 'pruner'"),
    ("search", "n_trails", "use 'trials'"),
    ("search", "prunner", "use 'pruner'"),
    ("search", "num_workers", "use 'parallel'"),
    ("search", "layers", "put it into the space: {'layers': ...}"),
    ("search", "args", "a parameter that is the same in all trials is a single value in the space"),
    ("search", "xyzzy", "see help(hopyard.search)"),
    ("random_search", "n_iter", "use 'trials'"),
    (
        "grid_search",
        "trials",
        "it runs all there is; leave it out, or use hopyard.random_search(..., trials=...)",
    ),
    (
        "ablation",
        "n_trials",
        "it runs all there is; leave it out, or use hopyard.random_search(..., trials=...)",
    ),
    ("grid_search", "sampler", "use hopyard.search(..., sampler=...)"),
    ("differential_evolution", "popsize", "use 'population'"),
    ("differential_evolution", "n_trials", "use 'generations' and 'population'"),
]


@pytest.mark.parametrize(("call", "name", "remedy"), UNKNOWN)
def test_an_option_that_there_is_none_of_names_the_right_one(
    call: str, name: str, remedy: str, hopyard_root: Path
) -> None:
    with pytest.raises(BadArguments) as caught:
        getattr(hopyard, call)(train, {"rate": [0.1]}, backend="processes", **{name: 2})
    assert str(caught.value) == f"wrong arguments for {call}(): there is no option {name!r}; {remedy}."
    assert not list(hopyard_root.iterdir())


def test_what_has_to_have_a_name_is_told(hopyard_root: Path) -> None:
    words = "3 arguments without a name; give all but fn and space by name, such as metric='loss'"
    with pytest.raises(BadArguments, match=words):
        hopyard.search(train, {"rate": [0.1]}, 20)  # type: ignore[misc]
    assert not list(hopyard_root.iterdir())


@pytest.mark.parametrize("call", SEARCHES)
def test_the_signature_of_a_search_is_its_own(call: str) -> None:
    function: Any = getattr(hopyard, call)
    names = set(inspect.signature(function).parameters)
    assert names >= set(SearchOptions.__annotations__)
    assert "options" not in names


def test_each_word_of_another_library_means_one_option_that_there_is() -> None:
    known = {name for call in SEARCHES for name in inspect.signature(getattr(hopyard, call)).parameters}
    words = [word for words in _ELSEWHERE.values() for word in words.split()]
    assert len(words) == len(set(words))
    assert set(_ELSEWHERE) <= known
    assert not known & (set(words) - {"strategy"})  # an option of one search, and a word for another
