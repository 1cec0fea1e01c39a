"""Names and descriptions are read from the arguments of every release of the Hops library."""

from __future__ import annotations

import pytest

from hops.label import Label
from hopyard.errors import BadArguments

pytestmark = pytest.mark.unit


def test_run_without_a_name_is_called_after_its_function() -> None:
    assert Label.of("no-name") == Label()


def test_name_and_description_are_kept() -> None:
    assert Label.of("mine", None, "second try") == Label(name="mine", description="second try")


def test_description_of_later_releases_is_where_resources_were() -> None:
    assert Label.of("mine", "second try") == Label(name="mine", description="second try")


def test_evaluator_of_later_releases_is_where_the_description_was() -> None:
    assert Label.of("mine", "second try", True) == Label(
        name="mine", description="second try", evaluator=True
    )
    assert Label.of("mine", None, True) == Label(name="mine", evaluator=True)


def test_resources_to_be_versioned_are_kept() -> None:
    label = Label.of("mine", ["Resources/code.py"], "second try")
    assert label == Label(name="mine", description="second try", resources=("Resources/code.py",))


def test_resources_that_are_no_paths_are_refused() -> None:
    with pytest.raises(BadArguments, match="a list of paths in the project, not 5"):
        Label.of("mine", 5)


def test_what_is_compared_followed_the_description_in_later_releases() -> None:
    label = Label.of("mine", "second try", "accuracy")
    assert label == Label(name="mine", description="second try", key="accuracy")


@pytest.mark.parametrize(
    ("given", "name"),
    [("a\nb\x1b[0m", "a b [0m"), ("last", "last-1"), (" ", None), ("", None), ("x" * 300, "x" * 90)],
)
def test_a_name_that_no_run_can_have_becomes_one_that_it_can(given: str, name: str | None) -> None:
    assert Label.of(given).name == name
