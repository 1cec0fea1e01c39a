from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial

import pytest

import hopyard
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
        ({}, "missing a required argument: 'a'"),
        ({"c": 1}, "it has no parameter 'c'; its signature is (a: 'int'"),
        ({"a": 1, "c": 1}, "it has no parameter 'c'; its signature is (a: 'int'"),
        ((1, 2, 3), "too many positional arguments"),
        (7, "args=7 cannot be passed; give a dict (by name)"),
        ("ab", "args='ab' cannot be passed; give a dict (by name)"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_reason(args: object, reason: str) -> None:
    with pytest.raises(BadArguments) as caught:
        bind(two, args)
    assert reason in str(caught.value)


def test_a_slip_in_the_name_of_an_argument_is_told_with_the_name_that_is_meant() -> None:
    with pytest.raises(
        BadArguments, match=r"it has no parameter 'rates' \(did you mean 'rate'\?\); its signature"
    ):
        bind(lambda rate, ctx: rate, {"rates": 1})


def yields(a: int = 1) -> Iterator[int]:
    yield a


async def waits(a: int = 1) -> int:
    return a


async def yields_later(a: int = 1) -> AsyncIterator[int]:
    yield a


class Yielding:
    def __call__(self) -> Iterator[int]:
        yield 1


def search_of(function: Callable[..., object]) -> object:
    return hopyard.search(function, {"a": [1, 2]}, trials=1, backend="processes")


@pytest.mark.parametrize("call", [hopyard.launch, hopyard.Cluster, search_of])
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (yields, "yields has a yield"),
        (partial(yields, a=2), "has a yield"),
        (Yielding(), "Yielding has a yield"),
        (waits, "waits is async"),
        (partial(waits, a=2), "is async"),
        (yields_later, "yields_later is async"),
    ],
)
def test_a_function_of_which_a_call_runs_nothing_is_refused(
    function: Callable[..., object], words: str, call: Callable[..., object]
) -> None:
    with pytest.raises(BadArguments, match=words):
        call(function)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"fn='not a function' is not a function"):
        bind("not a function")  # type: ignore[arg-type]
