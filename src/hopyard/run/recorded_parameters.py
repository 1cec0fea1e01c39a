"""What a run's record keeps of the arguments of its function, so that runs can be compared."""

from __future__ import annotations

from collections.abc import Mapping

LONGEST_TEXT = 200


def recorded_parameters(args: object) -> dict[str, bool | int | float | str | None]:
    """Returns the arguments that have a name and are numbers, short texts, or None; nothing else is worth a line."""
    if not isinstance(args, Mapping):
        return {}
    return {str(name): value for name, value in args.items() if _is_short(value)}


def _is_short(value: object) -> bool:
    if type(value) is str:
        return len(value) <= LONGEST_TEXT
    return value is None or type(value) in (bool, int, float)
