"""One parameter of a search, and the ways to write it that Python's own values do not offer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from hopyard.errors import InvalidSpace
from hopyard.search.space.choices import Choices, Stored

if TYPE_CHECKING:
    from optuna.trial import Trial

    from hopyard.codec.json_value import Json

LONGEST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers between two bounds, these included; whole numbers if the bounds and the step are whole.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        log: Whether numbers are spread evenly on a logarithmic scale: as many from 0.001 to 0.01 as from 0.01 to 0.1.
        step: Distance from one number to the next, beginning with the lower bound; None for all numbers.
    """

    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    step: float | None = None

    def __repr__(self) -> str:
        log = ", log=True" if self.log else ""
        step = "" if self.step is None else f", step={self.step!r}"
        return f"Range({self.low!r}, {self.high!r}{log}{step})"


@dataclass(frozen=True, slots=True)
class Choice:
    """Values without an order, of which a trial gets one.

    Attributes:
        values: The values: any objects that can be pickled. In a mapping from value to space, such as
            ``{"sgd": {"momentum": Range(0.0, 0.9)}, "adam": {}}``, the parameters of a space exist only with its value.
    """

    values: Iterable[object] | Mapping[Any, Mapping[str, object] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter and its distribution.

    Attributes:
        name: What the function calls it.
        distribution: Where its stored values may lie.
        choices: The values to choose from; None for a range.
        branches: The parameters that exist only with a certain stored value, by that value.
        is_constant: Whether it was written as a single value.
        is_listed: Whether a grid can list its values: it is no range, or one with a step.
    """

    name: str
    distribution: BaseDistribution
    choices: Choices | None = None
    branches: Mapping[Stored, tuple[Parameter, ...]] = field(default_factory=dict)
    is_constant: bool = False
    is_listed: bool = True

    @classmethod
    def constant(cls, name: str, value: object) -> Parameter:
        """Returns a parameter that has one value."""
        return cls._chosen(name, Choices.of([value]), is_constant=True)

    @classmethod
    def choice(cls, name: str, values: Iterable[object]) -> Parameter:
        """Returns a parameter that has one of some values."""
        choices = Choices.of(values)
        if not choices.stored:
            raise InvalidSpace(name, shown(values), "Give at least one value")
        return cls._chosen(name, choices)

    @classmethod
    def branching(cls, name: str, branches: Mapping[Any, tuple[Parameter, ...]]) -> Parameter:
        """Returns a parameter that has one of some values, each with parameters of its own."""
        parameter = cls.choice(name, branches)
        assert parameter.choices is not None
        by_stored = {parameter.choices.stored_of(value): branch for value, branch in branches.items()}
        return cls._chosen(name, parameter.choices, branches=by_stored)

    @classmethod
    def between(cls, name: str, bounds: Range) -> Parameter:
        """Returns a parameter that is a number of a range.

        Raises:
            InvalidSpace: There is no such range.
        """
        low, high = sorted((_number(name, bounds, bounds.low), _number(name, bounds, bounds.high)))
        step = None if bounds.step is None else _number(name, bounds, bounds.step)
        _check_scale(name, bounds, low, step)
        if step is not None:
            high = stepped(low, step, _steps(low, high, step))
        distribution: BaseDistribution
        if all(isinstance(number, int) for number in (low, high, step or 1)):
            distribution = IntDistribution(int(low), int(high), log=bounds.log, step=int(step or 1))
        else:
            distribution = FloatDistribution(low, high, log=bounds.log, step=step)
        return cls(name=name, distribution=distribution, is_listed=step is not None or low == high)

    @classmethod
    def like(cls, name: str, distribution: BaseDistribution) -> Parameter:
        """Returns a parameter that has a distribution of Optuna's."""
        if isinstance(distribution, CategoricalDistribution):
            return cls.choice(name, distribution.choices)
        assert isinstance(distribution, (IntDistribution, FloatDistribution))
        step = None if distribution.log else distribution.step
        return cls.between(name, Range(distribution.low, distribution.high, log=distribution.log, step=step))

    @classmethod
    def _chosen(cls, name: str, choices: Choices, **fields: Any) -> Parameter:
        distribution = CategoricalDistribution(choices.stored)
        return cls(name=name, distribution=distribution, choices=choices, **fields)

    @property
    def count(self) -> int:
        """How many values a grid can list.

        Raises:
            InvalidSpace: It is a range without a step.
        """
        if isinstance(self.distribution, CategoricalDistribution):
            return len(self.distribution.choices)
        if not self.is_listed:
            remedy = "A grid needs a list of values; give one, or give the range a step"
            raise InvalidSpace(self.name, shown(self.written), remedy)
        assert isinstance(self.distribution, (IntDistribution, FloatDistribution))
        return _steps(self.distribution.low, self.distribution.high, self.distribution.step or 1) + 1

    @property
    def listed(self) -> Sequence[Stored]:
        """The values that a grid lists, in order, as they are stored.

        Raises:
            InvalidSpace: It is a range without a step.
        """
        if isinstance(self.distribution, CategoricalDistribution):
            return self.distribution.choices
        assert isinstance(self.distribution, (IntDistribution, FloatDistribution))
        low, step = self.distribution.low, self.distribution.step or 1
        return [stepped(low, step, number) for number in range(self.count)]

    def branch(self, stored: Stored) -> tuple[Parameter, ...]:
        """Returns the parameters that exist only with a stored value of this one."""
        return self.branches.get(stored, ())

    def suggest(self, trial: Trial) -> Stored:
        """Returns the stored value that a trial gets."""
        match self.distribution:
            case CategoricalDistribution(choices=choices):
                return trial.suggest_categorical(self.name, choices)
            case IntDistribution(low=low, high=high, log=log, step=step):
                return trial.suggest_int(self.name, low, high, log=log, step=step)
            case FloatDistribution(low=low, high=high, log=log, step=step):
                return trial.suggest_float(self.name, low, high, log=log, step=step)
        raise AssertionError(self.distribution)

    def argument(self, stored: Stored) -> Any:
        """Returns what the function gets for a stored value."""
        return stored if self.choices is None else self.choices.object_of(stored)

    @property
    def written(self) -> object:
        """What a user writes for it, as far as it is short: errors show it."""
        match self.to_json():
            case {"low": float() | int() as low, "high": float() | int() as high, **rest}:
                return Range(low, high, **rest)  # type: ignore[arg-type]  # our own description of a range
            case {"values": values}:
                return values
            case other:
                return other

    def to_json(self) -> Json:
        """Returns a description for people, in the form that a space has in a file."""
        if isinstance(self.distribution, CategoricalDistribution):
            return self._choices_to_json(self.distribution.choices)
        assert isinstance(self.distribution, (IntDistribution, FloatDistribution))
        described: dict[str, Json] = {"low": self.distribution.low, "high": self.distribution.high}
        if self.distribution.log:
            described["log"] = True
        elif self.distribution.step and self.is_listed:
            described["step"] = self.distribution.step
        return described

    def _choices_to_json(self, choices: Sequence[Stored]) -> Json:
        if self.is_constant:
            return choices[0]
        if self.branches:
            return {"choose": {str(value): describe(self.branch(value)) for value in choices}}
        return {"values": list(choices)}


def describe(parameters: Iterable[Parameter]) -> dict[str, Json]:
    """Returns a description of some parameters, by name."""
    return {parameter.name: parameter.to_json() for parameter in parameters}


def shown(value: object) -> str:
    """Returns a value as errors show it."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def is_number(value: object) -> bool:
    """Returns whether a value can be a bound; a bool cannot."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _number(name: str, bounds: Range, value: object) -> float:
    if isinstance(value, str):
        raise InvalidSpace(name, shown(bounds), f"{value!r} is text; write the number without quotes")
    if not is_number(value):
        raise InvalidSpace(name, shown(bounds), f"{value!r} is not a number")
    assert isinstance(value, Real)
    if not math.isfinite(value):
        raise InvalidSpace(name, shown(bounds), "Bounds and step have to be finite")
    return int(value) if isinstance(value, Integral) else float(value)


def _check_scale(name: str, bounds: Range, low: float, step: float | None) -> None:
    if bounds.log and low <= 0:
        raise InvalidSpace(name, shown(bounds), "A logarithmic range has to begin above 0")
    if bounds.log and step is not None:
        raise InvalidSpace(name, shown(bounds), "A logarithmic range has no step; leave one of the two out")
    if step is not None and step <= 0:
        raise InvalidSpace(name, shown(bounds), "The step has to be above 0")


def stepped(low: float, step: float, count: int) -> float:
    """Returns the number that is some steps above another one."""
    value = Decimal(str(low)) + count * Decimal(str(step))
    return int(value) if isinstance(low, int) and isinstance(step, int) else float(value)


def _steps(low: float, high: float, step: float) -> int:
    # As decimals, because that is how 0.1 is meant: ten such steps are 1.
    return int((Decimal(str(high)) - Decimal(str(low))) // Decimal(str(step)))
