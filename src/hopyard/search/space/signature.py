"""Whether a function can take the parameters of a search."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

from hopyard.errors import BadArguments
from hopyard.run.call import unknown_parameters
from hopyard.search.space.reader import CONTEXT


def check_function(
    function: Callable[..., Any],
    *,
    always: Collection[str],
    sometimes: Collection[str] = (),
) -> None:
    """Checks that a function can be called with what a search gives it, by name.

    Args:
        function: Any callable. Its parameter ``ctx``, if it has one, is not the search's business.
        always: The parameters that each trial has.
        sometimes: Those that only some trials have.

    Raises:
        BadArguments: A name is no parameter of the function, a parameter of the function gets no value, or one that
            only some trials have is without a default.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # some builtins tell no signature; then Python checks in the trial
        return
    required = [parameter.name for parameter in signature.parameters.values() if _is_required(parameter)]
    if unknown := unknown_parameters((*always, *sometimes), signature):
        raise BadArguments(_name(function), unknown)
    unsure = [name for name in required if name in sometimes]
    if unsure:
        reason = f"{_listed(unsure)} would be missing in some trials; give it a default in the function"
        raise BadArguments(_name(function), reason)
    missing = [name for name in required if name not in always and name != CONTEXT]
    if missing:
        reason = f"{_listed(missing)} has no default and is not in the space; its signature is {signature}"
        raise BadArguments(_name(function), reason)


def _is_required(parameter: inspect.Parameter) -> bool:
    variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return not variable and parameter.default is parameter.empty


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__qualname__
