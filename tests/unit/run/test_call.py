from __future__ import annotations

import pytest

from hopyard.errors import BadArguments
from hopyard.run.call import bind

pytestmark = pytest.mark.unit


def two(a: int, b: int = 2) -> int:
    return a + b


def with_context(a: int, ctx: object) -> object:
    return ctx


def test_arguments_go_by_name_or_by_position() -> None:
    assert bind(two, {"a": 1})() == 3
    assert bind(two, (1, 5))() == 6
    assert bind(two, [4])() == 6


def test_a_function_without_arguments_needs_none() -> None:
    assert bind(lambda: "ok")() == "ok"


def test_ctx_is_filled_in_on_the_node_and_not_asked_of_the_caller() -> None:
    assert bind(with_context, {"a": 1}).wants_context
    assert not bind(two, {"a": 1}).wants_context


def test_a_ctx_that_the_caller_gives_is_left_alone() -> None:
    call = bind(with_context, {"a": 1, "ctx": "theirs"})
    assert not call.wants_context
    assert call() == "theirs"


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"c": 1}, "missing a required argument: 'a'"),
        ({"a": 1, "c": 1}, "got an unexpected keyword argument 'c'"),
        ((1, 2, 3), "too many positional arguments"),
        (7, "args=7 cannot be passed; give a dict (by name)"),
        ("ab", "args='ab' cannot be passed; give a dict (by name)"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_reason(args: object, reason: str) -> None:
    with pytest.raises(BadArguments) as caught:
        bind(two, args)
    assert reason in str(caught.value)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"fn='not a function' is not a function"):
        bind("not a function")  # type: ignore[arg-type]
