"""From a space as a user writes it, in Python or in a file, to its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from optuna.distributions import BaseDistribution, IntDistribution

from hopyard.errors import InvalidSearch, InvalidSpace
from hopyard.search.space.choices import plain
from hopyard.search.space.parameters import Choice, Parameter, Range, is_number, shown

CONTEXT = "ctx"
RANGE_KEYS = frozenset({"low", "high", "log", "step"})
DICT_FORMS = (
    'A dict has one of the forms {"low": 0.0001, "high": 0.1, "log": true}, '
    '{"low": 0, "high": 8, "step": 2}, {"values": [16, 32]} '
    'and {"choose": {"sgd": {"momentum": [0.0, 0.9]}, "adam": {}}}'
)


def read_parameters(raw: Mapping[str, object]) -> tuple[Parameter, ...]:
    """Returns the parameters of a space, in its order. A list holds values, also if they are two numbers.

    Raises:
        InvalidSpace: One of them cannot be searched.
        InvalidSearch: The space is no mapping.
    """
    parameters = _parameters(raw)
    _check_once(parameters)
    return parameters


def _parameters(raw: Mapping[str, object]) -> tuple[Parameter, ...]:
    if not isinstance(raw, Mapping):
        raise InvalidSearch(f"the space is {shown(raw)}", "Give a dict from parameter to values")
    return tuple(_parameter(name, value) for name, value in raw.items())


def _parameter(name: str, value: object) -> Parameter:
    _check_name(name, value)
    value = plain(value)
    if isinstance(value, Mapping):
        value = _from_dict(name, value)
    match value:
        case list():
            return Parameter.choice(name, value)
        case Range():
            return _range(name, value)
        case Choice():
            return _choice(name, value)
        case BaseDistribution():
            return Parameter.like(name, value)
        case None | str() | bool() | int() | float():
            return Parameter.constant(name, value)
        case tuple():
            raise InvalidSpace(name, shown(value), _instead_of_tuple(value))
    remedy = "Give a list, a Range, a Choice or a single value; Choice([x]) makes any object a single value"
    raise InvalidSpace(name, shown(value), remedy)


def _range(name: str, bounds: Range) -> Parameter:
    parameter = Parameter.between(name, bounds)
    if bounds.low > bounds.high:
        turned = replace(bounds, low=bounds.high, high=bounds.low)
        raise InvalidSpace(name, shown(bounds), f"The lower bound comes first: write {shown(turned)}")
    match parameter.distribution:
        case IntDistribution(low=low, high=high) if high - low == 1 and bounds.step is None:
            remedy = (
                f"Between whole numbers are whole numbers, here only {low} and {high}: write {Range(float(low), float(high))} "
                f"for all numbers between, or Choice([{low}, {high}]) for these two"
            )
            raise InvalidSpace(name, shown(bounds), remedy)
    return parameter


def _choice(name: str, choice: Choice) -> Parameter:
    if isinstance(choice.values, Mapping):
        branches = {value: _parameters(space or {}) for value, space in choice.values.items()}
        return Parameter.branching(name, branches)
    if isinstance(choice.values, str) or not isinstance(choice.values, Iterable):
        raise InvalidSpace(name, shown(choice), "Give the values as a list")
    return Parameter.choice(name, list(choice.values))


def _instead_of_tuple(value: tuple[object, ...]) -> str:
    """Returns how to write what a tuple may mean: nobody can tell a range from a shape."""
    meant = [f"{shown(list(value))} for these values", f"Choice([{shown(value)}]) for the tuple itself"]
    if len(value) == 2 and all(map(is_number, value)):
        meant.insert(0, f"Range{shown(value)} for all numbers between")
    return f"A tuple may mean several things: write {', or '.join(meant)}"


def _from_dict(name: str, value: Mapping[str, object]) -> Range | Choice:
    """Returns what one of the forms means that files have."""
    match dict(value):
        case {"low": _, "high": _} if value.keys() <= RANGE_KEYS:
            return Range(**value)  # type: ignore[arg-type]  # checked as any range is
        case {"values": list() | tuple() as values} if len(value) == 1:
            return Choice(values)
        case {"choose": Mapping() as branches} if len(value) == 1:
            return Choice(branches)
    raise InvalidSpace(name, shown(value), DICT_FORMS)


def _check_name(name: object, value: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidSpace(str(name), shown(value), "Take a name that a parameter of a function can have")
    if name == CONTEXT:
        raise InvalidSpace(name, shown(value), "The trial's context has this name; take another one")


def _check_once(parameters: tuple[Parameter, ...]) -> dict[str, Parameter]:
    """Returns all parameters by name, after checking that no trial can have two of the same name."""
    found: dict[str, Parameter] = {}
    for parameter in parameters:
        _join(found, {parameter.name: parameter})
        below: dict[str, Parameter] = {}
        for branch in parameter.branches.values():
            _unite(below, _check_once(branch))
        _join(found, below)
    return found


def _join(found: dict[str, Parameter], more: Mapping[str, Parameter]) -> None:
    for name, parameter in more.items():
        if name in found:
            remedy = "A trial could have it twice; use the name once, or only in branches of the same choice"
            raise InvalidSpace(name, shown(parameter.written), remedy)
        found[name] = parameter


def _unite(found: dict[str, Parameter], more: Mapping[str, Parameter]) -> None:
    for name, parameter in more.items():
        known = found.setdefault(name, parameter)
        if known.distribution != parameter.distribution:
            remedy = f"Another branch has it as {shown(known.written)}; make both the same, or rename one"
            raise InvalidSpace(name, shown(parameter.written), remedy)
