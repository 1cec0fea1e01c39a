from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from hopyard.search.space.former_lists import with_former_lists
from hopyard.search.space.parameters import Choice, Range
from hopyard.search.space.space import Space

pytestmark = pytest.mark.unit


def stored(**raw: Any) -> dict[str, Any]:
    """Returns a space as a study has it on record."""
    described: dict[str, Any] = json.loads(json.dumps(Space.of(raw).to_json()))
    return described


def test_lists_of_two_numbers_become_the_ranges_that_they_were(caplog: pytest.LogCaptureFixture) -> None:
    branches = {"sgd": {"momentum": [0.9, 0.0]}, "adam": {}}
    space = Space.of(
        {"rate": [0.1, 0.001], "units": [1, 9], "optimizer": Choice(branches), "kind": ["a", "b"]}
    )
    former = {"sgd": {"momentum": Range(0.0, 0.9)}, "adam": {}}
    as_it_was = Space.of(
        {"rate": Range(0.001, 0.1), "units": Range(1, 9), "optimizer": Choice(former), "kind": ["a", "b"]}
    )
    with caplog.at_level(logging.WARNING):
        assert with_former_lists(space, as_it_was.to_json()) == as_it_was
    assert "write Range(low, high)" in caplog.text


def test_a_grid_of_two_numbers_is_what_it_was(caplog: pytest.LogCaptureFixture) -> None:
    space = Space.of({"rate": [0.1, 0.001]})
    assert with_former_lists(space, stored(rate=[0.1, 0.001])) is space
    assert not caplog.text


@pytest.mark.parametrize("other", [Range(0.001, 0.2), Range(0.001, 0.1, log=True), [0.1, 0.2, 0.3]])
def test_another_space_stays_another_one(other: object) -> None:
    space = Space.of({"rate": [0.1, 0.001], "units": 3})
    assert with_former_lists(space, stored(rate=other, units=3)) is space
