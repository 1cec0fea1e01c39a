"""A user's function as a trial calls it: its parameters by name, and the context if it asks for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hopyard.frameworks.registry import explained
from hopyard.protocol.payload import Call, dump
from hopyard.run.call import CONTEXT
from hopyard.run.context import NodeContext
from hopyard.search.trial.result import DEFAULT_METRIC, TrialResult, Wanted, read_result


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCall:
    """What each trial of a study runs, pickled once for all of them.

    Attributes:
        function: The user's function.
        objectives: The names of what is compared.
        wanted: What it has to return.
        wants_context: Whether it has a parameter named ``ctx``.
    """

    function: Callable[..., Any]
    objectives: tuple[str, ...]
    wanted: Wanted
    wants_context: bool

    @classmethod
    def of(cls, function: Callable[..., Any], objectives: tuple[str, ...], wanted: Wanted) -> TrialCall:
        """Returns the call of a function."""
        return cls(
            function=function,
            objectives=objectives,
            wanted=wanted,
            wants_context=CONTEXT in inspect.signature(function).parameters,
        )

    def __call__(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the function in the process of a trial."""
        extra = {CONTEXT: NodeContext.current()} if self.wants_context else {}
        try:
            return self.function(**arguments, **extra)
        except Exception as error:
            explained(error)  # with advice; as a trial is not fed, there is no other one that it hides
            raise

    def read(self, value: Any) -> TrialResult:
        """Returns what a return value means; a number by itself goes by the name of the function.

        Raises:
            BadResult: It is nothing that can be compared.
        """
        result = read_result(value, self.objectives, self.wanted)
        is_named = result.key or isinstance(value, Mapping) or self.objectives != (DEFAULT_METRIC,)
        return result if is_named else replace(result, key=function_name(self.function))

    def dump(self) -> bytes:
        """Returns this as bytes that an executor can load without the driver's files.

        Raises:
            NotPicklable: Something that the function reaches cannot travel; the error names it.
        """
        return dump(self, user=Call(function=self.function))


def function_name(function: Callable[..., Any]) -> str:
    """Returns what a user calls a function; of a partial one, what the function inside is called."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))
