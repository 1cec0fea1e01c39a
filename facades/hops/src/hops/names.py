"""Arguments under all names that they have had: releases of the Hops library renamed many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Result = TypeVar("Result")


def takes_names(**others: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Returns a decorator that lets arguments be called by other names, too.

    The function gets as keyword ``names`` what its arguments were called: that tells the release a program was made for.

    Args:
        others: The argument that each other name stands for.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Result:
            keywords = renamed(function.__name__, kwargs, others)
            return function(*args, **keywords, names=frozenset(kwargs))

        return call

    return decorate


def renamed(function: str, kwargs: Mapping[str, Any], others: Mapping[str, str]) -> dict[str, Any]:
    """Returns keyword arguments under the names that a function knows.

    Raises:
        TypeError: An argument was given under two names.
    """
    keywords: dict[str, Any] = {}
    for name, value in kwargs.items():
        known = others.get(name, name)
        if known in keywords:
            raise TypeError(f"{function}() got {known!r} under two names")
        keywords[known] = value
    return keywords
