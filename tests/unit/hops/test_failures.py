from __future__ import annotations

import logging

import pytest

from hops.failures import raise_failed
from hopyard.errors import NodeFailed
from hopyard.search.api import grid_search
from hopyard.search.study.study import Study

pytestmark = pytest.mark.unit


def fail_above_one(x: int) -> int:
    print(f"x is {x}")
    if x > 1:
        raise ValueError("the grapes are sour")
    return x


@pytest.fixture
def study() -> Study:
    return grid_search(fail_above_one, {"x": [1, 2, 3]}, backend="processes", parallel=1)


def test_the_first_failure_is_raised_with_its_traceback_and_output(study: Study) -> None:
    with pytest.raises(NodeFailed, match="the grapes are sour") as caught:
        raise_failed(study, most=0)
    assert "in fail_above_one" in caught.value.trace
    assert "x is 2" in caught.value.tail
    assert caught.value.__notes__ == [
        f"This is trial 1 (x=2), of 2 that failed; the other 1 are in {study.logdir}."
    ]


def test_failures_that_may_be_are_logged(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        raise_failed(study, most=2)
    assert "2 of 3 trials" in caplog.text
