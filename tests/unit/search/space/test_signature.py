from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from hopyard.errors import BadArguments
from hopyard.search.space.signature import check_function

pytestmark = pytest.mark.unit


def train(ctx, learning_rate, dropout=0.5):
    pass


def anything(**settings):
    pass


def by_position(learning_rate, /):
    pass


@pytest.mark.parametrize(
    ("function", "always"),
    [
        (train, ["learning_rate"]),
        (train, ["learning_rate", "dropout"]),
        (anything, ["learning_rate", "dropout"]),
        (functools.partial(train, learning_rate=1), []),
        (min, ["key"]),
    ],
)
def test_a_function_that_takes_the_space_passes(function: Callable[..., object], always: list[str]) -> None:
    check_function(function, always=always)


def test_an_unknown_name_is_refused_with_a_near_one() -> None:
    with pytest.raises(BadArguments, match=r"no parameter 'learning_rat' .did you mean 'learning_rate'"):
        check_function(train, always=["learning_rat"])


def test_a_required_parameter_that_the_space_lacks_is_refused() -> None:
    with pytest.raises(BadArguments, match="'learning_rate' has no default and is not in the space"):
        check_function(train, always=["dropout"])


def test_a_parameter_of_some_trials_only_needs_a_default() -> None:
    check_function(train, always=["learning_rate"], sometimes=["dropout"])
    with pytest.raises(BadArguments, match="'learning_rate' would be missing in some trials"):
        check_function(train, always=["dropout"], sometimes=["learning_rate"])


def test_a_parameter_that_has_no_name_for_callers_is_refused() -> None:
    with pytest.raises(BadArguments, match="no parameter 'learning_rate'"):
        check_function(by_position, always=["learning_rate"])
