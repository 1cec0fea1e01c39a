"""Strict JSON that also carries NaN and the infinities, which JSON has no words for.

In free-form values such a float becomes an object with the one key ``$float``: ``{"$float": "NaN"}``. Keys that
begin with ``$`` gain a second ``$``, so that a user's own ``$float`` is never mistaken for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import NoReturn, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | tuple[Json, ...] | Mapping[str, Json] | None"

_TAG = "$float"
_DENSE = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_SPACED = json.JSONEncoder(allow_nan=False)
# `math.nan` itself and not a new NaN: equality of records goes by identity first, so they compare equal.
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def spell_float(value: float) -> float | str:
    """Returns `value` as JSON can hold it: itself, or ``"NaN"``, ``"Infinity"``, ``"-Infinity"``."""
    if math.isfinite(value):
        return float(value)
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def unspell_float(value: object) -> float:
    """Returns the float that `spell_float` wrote as `value`.

    Raises:
        ValueError: `value` is not a number, nor one of the three words.
    """
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, found {value!r:.80}")  # noqa: TRY004 - the file is wrong, not the caller
    try:
        return float(value)
    except OverflowError:
        raise ValueError("the number is too large for a float") from None


def tag(value: Json) -> Json:
    """Returns a copy of `value` that strict JSON can hold; tuples become lists."""
    if isinstance(value, float):
        spelt = spell_float(value)
        return {_TAG: spelt} if isinstance(spelt, str) else spelt
    if isinstance(value, Mapping):
        return {_escape(key): tag(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [tag(item) for item in value]
    return value


def untag(value: Json) -> Json:
    """Returns the value that `tag` made `value` from."""
    if isinstance(value, Mapping):
        if value.keys() == {_TAG}:
            return unspell_float(value[_TAG])
        return {_unescape(key): untag(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [untag(item) for item in value]
    return value


def dumps(value: Json, *, spaced: bool = False) -> bytes:
    """Returns `value` as strict JSON on one line, in ASCII so that any text survives any reader.

    Args:
        value: What to write.
        spaced: Whether spaces follow commas and colons, for people.

    Raises:
        ValueError: `value` holds a NaN or an infinity that was not tagged.
        TypeError: `value` holds something that is not JSON.
    """
    encode = _SPACED.encode if spaced else _DENSE.encode
    return encode(value).encode("ascii")


def loads(data: bytes) -> Json:
    """Returns the value that `data` spells.

    Raises:
        ValueError: `data` is not strict JSON in UTF-8.
    """
    try:
        value: Json = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _escape(key: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys are text, not {type(key).__name__}: {key!r:.80}")
    return f"${key}" if key.startswith("$") else key


def _unescape(key: str) -> str:
    return key[1:] if key.startswith("$$") else key
