"""What a function returned, as the values that a study compares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadResult
from hopyard.run.scalar import as_number, is_bool, shown

if TYPE_CHECKING:
    from hopyard.codec.json_value import Json

DEFAULT_METRIC = "metric"
LONGEST_TEXT = 500
REMEDY = "Return a number, or a dict with one"


class Wanted(Enum):
    """What a function has to return."""

    VALUE = "value"  # a number for each objective
    MAYBE = "maybe"  # that, or None: a grid has its trials whatever comes of them
    ANYTHING = "anything"  # nobody compares


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What came of a trial.

    Attributes:
        values: One for each objective; none if nothing was returned.
        result: What else was returned, as it is recorded.
        key: Where in a mapping the value was, if no metric was named.
    """

    values: tuple[float, ...] = ()
    result: Mapping[str, Json] = field(default_factory=dict)
    key: str = ""


def read_result(value: Any, objectives: Sequence[str], wanted: Wanted = Wanted.VALUE) -> TrialResult:
    """Returns what a function's return value means.

    Args:
        value: A number, a mapping with the objectives, a sequence of numbers for several, or nothing.
        objectives: The names of what is compared.
        wanted: What there has to be.

    Raises:
        BadResult: It is none of these, or not a finite number.
    """
    try:
        return _read(value, objectives, wanted)
    except BadResult:
        if wanted is not Wanted.ANYTHING:
            raise
        return TrialResult(result={"value": _storable(value)})


def _read(value: Any, objectives: Sequence[str], wanted: Wanted) -> TrialResult:
    if value is None and wanted is not Wanted.VALUE:
        return TrialResult()
    if isinstance(value, Mapping):
        chosen = _objectives_in(value, objectives)
        if not chosen and wanted is not Wanted.VALUE:
            return TrialResult(result=_rest(value, ()))
        if not chosen:
            keys = ", ".join(map(repr, value)) or "nothing"
            raise BadResult(
                shown(value), f"It has no {' and '.join(objectives)}; metric= can be one of {keys}"
            )
        values = tuple(_number(value[name], f" as {name!r}") for name in chosen)
        key = str(chosen[0]) if chosen != tuple(objectives) else ""
        return TrialResult(values=values, result=_rest(value, chosen), key=key)
    if len(objectives) > 1:
        is_row = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
        if not is_row or len(value) != len(objectives):
            raise BadResult(shown(value), f"Return {len(objectives)} numbers: {', '.join(objectives)}")
        return TrialResult(values=tuple(_number(each, "") for each in value))
    return TrialResult(values=(_number(value, ""),))


def _objectives_in(value: Mapping[str, Any], objectives: Sequence[str]) -> tuple[str, ...]:
    if all(name in value for name in objectives):
        return tuple(objectives)
    return tuple(value) if tuple(objectives) == (DEFAULT_METRIC,) and len(value) == 1 else ()


def _number(value: Any, where: str) -> float:
    if is_bool(value):
        raise BadResult(f"{shown(value)}{where}", REMEDY)
    try:
        number = as_number(value)
    except TypeError as error:
        raise BadResult(f"{shown(value)}{where}", REMEDY) from error
    if not math.isfinite(number):
        reason = "NaN cannot be compared" if math.isnan(number) else "Infinity is no value to compare by"
        raise BadResult(f"{number}{where}", f"{reason}; the training may have diverged")
    return number


def _rest(value: Mapping[str, Any], chosen: Sequence[str]) -> dict[str, Json]:
    return {str(name): _storable(each) for name, each in value.items() if name not in chosen}


def _storable(value: Any) -> Json:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value[:LONGEST_TEXT] if isinstance(value, str) else value
    try:
        return float(value)
    except (TypeError, ValueError):
        return repr(value)[:LONGEST_TEXT]
