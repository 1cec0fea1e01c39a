"""Errors name what the program has."""

from __future__ import annotations

import pytest

from hopyard import errors
from tensorflowonspark.old_names import old_names

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("error", "named", "not_named"),
    [
        (errors.FeedNotRead(10, "6 rows"), "after 10 rows of its feed and left 6 rows", "feed.epochs()"),
        (errors.FeedNotRead(10, "6 rows"), "tf_feed.terminate()", "as_numpy"),
        (errors.NodesMissing(("worker 1",), 2, 5), "raise reservation_timeout", "start_timeout"),
    ],
)
def test_a_remedy_names_what_the_program_has(error: errors.HopyardError, named: str, not_named: str) -> None:
    with pytest.raises(type(error)) as raised, old_names():
        raise error
    assert named in str(raised.value)
    assert not_named not in str(raised.value)


def test_other_errors_are_left_as_they_are() -> None:
    error = errors.NotFed("a data feed", "so")
    with pytest.raises(errors.NotFed) as raised, old_names():
        raise error
    assert raised.value is error
