"""The parameters that a search may set, and what a function gets of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hopyard.errors import InvalidSearch, InvalidSpace
from hopyard.search.space.choices import Stored
from hopyard.search.space.parameters import Parameter, describe, shown
from hopyard.search.space.reader import read_parameters
from hopyard.search.space.signature import check_function

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

    from hopyard.codec.json_value import Json

MOST_ROWS = 1_000_000


@runtime_checkable
class SearchSpace(Protocol):
    """What a study needs to know of its parameters.

    Optuna stores only numbers, texts, bools and None. The function may get something else for them, and something
    more.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters that are stored, in order."""

    @property
    def always(self) -> tuple[str, ...]:
        """The parameters that each trial has, in order."""

    @property
    def distributions(self) -> Mapping[str, BaseDistribution]:
        """Where the stored values may lie, by parameter."""

    def suggest(self, trial: Trial) -> None:
        """Gives a trial its parameters."""

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what the function gets for the parameters that a trial has stored."""

    def to_json(self) -> dict[str, Json]:
        """Returns a description for people."""

    def check(self, function: Callable[..., Any]) -> None:
        """Checks that a function can be called with the arguments of any trial."""


@dataclass(frozen=True, slots=True)
class Space:
    """Parameters, some of which may exist only with a certain value of another one.

    Attributes:
        parameters: Those that each trial has; they hold the others.
    """

    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> Space:
        """Returns a space from what a user wrote.

        A parameter is a list of values, a `Range`, a `Choice`, a distribution of Optuna's, one of the dicts that stand
        for those in a file, or a single value, which each trial gets. No parameters at all make one trial.

        Args:
            raw: What each parameter may be, by name.

        Raises:
            InvalidSpace: A parameter cannot be searched.
        """
        return cls(read_parameters(raw))

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters, in order: those of a branch follow the choice that they belong to."""
        return tuple(self.distributions)

    @property
    def always(self) -> tuple[str, ...]:
        """The parameters that each trial has, in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def distributions(self) -> Mapping[str, BaseDistribution]:
        """Where the stored values may lie, by parameter; a single value is a choice of one."""
        return {parameter.name: parameter.distribution for parameter in _all(self.parameters)}

    def suggest(self, trial: Trial) -> None:
        """Gives a trial its parameters, in order; of branches only those that it has chosen."""
        for _ in _walk(self.parameters, lambda parameter: parameter.suggest(trial)):
            continue

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what the function gets for the parameters that a trial has stored, in order."""
        active = _walk(self.parameters, lambda parameter: params[parameter.name])
        return {parameter.name: parameter.argument(stored) for parameter, stored in active}

    def grid(self) -> list[dict[str, Any]]:
        """Returns all combinations as they are stored; the last parameter changes fastest.

        Raises:
            InvalidSpace: A parameter is a range without a step.
            InvalidSearch: There are more than a million.
        """
        count = _count(self.parameters)
        if count > MOST_ROWS:
            raise InvalidSearch(f"the grid would have {count} trials", "Use fewer values, or another sampler")
        return list(_combinations(self.parameters))

    def rows(self, lists: Mapping[str, object]) -> list[dict[str, Any]]:
        """Returns combinations by index, as they are stored: the first of all values, the second of all, and so on.

        Args:
            lists: What this space was made of. A value that is no list is in each row.

        Raises:
            InvalidSearch: The lists differ in length.
            InvalidSpace: Something is neither a list nor a single value.
        """
        lengths = {name: len(values) for name, values in lists.items() if isinstance(values, list)}
        if len(set(lengths.values())) > 1:
            what = ", ".join(f"{length} of {name!r}" for name, length in lengths.items())
            raise InvalidSearch(
                f"the lists differ in length: {what}", "Length of each function argument list must be equal"
            )
        count = max(lengths.values(), default=1)
        return [{p.name: _at(p, lists[p.name], index) for p in self.parameters} for index in range(count)]

    def to_json(self) -> dict[str, Json]:
        """Returns a description for people, in the form that a space has in a file."""
        return describe(self.parameters)

    def check(self, function: Callable[..., Any]) -> None:
        """Checks that a function can be called with the arguments of any trial.

        Raises:
            BadArguments: It cannot.
        """
        sometimes = [name for name in self.names if name not in self.always]
        check_function(function, always=self.always, sometimes=sometimes)


def _all(parameters: tuple[Parameter, ...]) -> Iterator[Parameter]:
    for parameter in parameters:
        yield parameter
        for branch in parameter.branches.values():
            yield from _all(branch)


def _walk(
    parameters: tuple[Parameter, ...], value_of: Callable[[Parameter], Stored]
) -> Iterator[tuple[Parameter, Stored]]:
    """Yields the parameters that a trial has, and their stored values."""
    for parameter in parameters:
        stored = value_of(parameter)
        yield parameter, stored
        yield from _walk(parameter.branch(stored), value_of)


def _count(parameters: tuple[Parameter, ...]) -> int:
    return prod(
        sum(_count(parameter.branch(stored)) for stored in parameter.listed)
        if parameter.branches
        else parameter.count
        for parameter in parameters
    )


def _combinations(parameters: tuple[Parameter, ...]) -> Iterator[dict[str, Any]]:
    if not parameters:
        yield {}
        return
    first, rest = parameters[0], parameters[1:]
    for stored in first.listed:
        for branch in _combinations(first.branch(stored)):
            for others in _combinations(rest):
                yield {first.name: stored, **branch, **others}


def _at(parameter: Parameter, values: object, index: int) -> Stored:
    if parameter.choices is None or not (isinstance(values, list) or parameter.is_constant):
        raise InvalidSpace(parameter.name, shown(values), "Give a list with a value for each trial")
    return parameter.choices.stored_of(values[index] if isinstance(values, list) else values)
