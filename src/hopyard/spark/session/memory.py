"""Amounts of memory as Spark writes them."""

from __future__ import annotations

import re

from hopyard.errors import InvalidSessionSetting

_AMOUNT = re.compile(r"(\d+)\s*([kmgt])i?b?", re.IGNORECASE)
_KIB = {"k": 1, "m": 1024, "g": 1024**2, "t": 1024**3}


def memory_in_mb(field: str, text: str) -> int:
    """Returns an amount like ``512m`` or ``2g`` in MiB, rounded down.

    Args:
        field: Name of the setting, for the error.
        text: The amount. A unit must be given: Spark itself reads a bare number as MiB in some places
            and as bytes in others.

    Raises:
        InvalidSessionSetting: The text is not an amount of memory.
    """
    match = _AMOUNT.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InvalidSessionSetting(field, repr(text), "give a number with a unit, such as '512m' or '2g'")
    return int(match[1]) * _KIB[match[2].lower()] // 1024
