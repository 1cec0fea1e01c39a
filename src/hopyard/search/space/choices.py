"""Choices that are any Python objects, and the plain values as which Optuna stores them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Any, TypeAlias

import numpy as np

Stored: TypeAlias = bool | int | float | str | None

LONGEST_LABEL = 60
_PLAIN = (NoneType, bool, int, float, str)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # differs from process to process, and a study may be resumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The values to choose from, in order, as they are stored and as the function gets them.

    What Optuna can store stands for itself; anything else is stored as a label. So is a value that Python takes
    for equal to an earlier one of another type: ``1``, ``1.0`` and ``True`` are three choices.

    Attributes:
        stored: What is stored, in order, no two alike.
        objects: What the function gets, in the same order.
    """

    stored: tuple[Stored, ...]
    objects: tuple[Any, ...]

    @classmethod
    def of(cls, values: Iterable[object]) -> Choices:
        """Returns the choices among some values; one that is listed twice counts once."""
        objects: list[Any] = list(_distinct(plain(value) for value in values))
        reserved = [value for value in objects if type(value) in _PLAIN]
        stored: list[Stored] = []
        for value in objects:
            fits = type(value) in _PLAIN and value not in stored
            stored.append(value if fits else _label(value, [*reserved, *stored]))
        return cls(stored=tuple(stored), objects=tuple(objects))

    def object_of(self, stored: Stored) -> Any:
        """Returns what the function gets for a stored value."""
        return self.objects[self.stored.index(stored)] if stored in self.stored else stored

    def stored_of(self, value: object) -> Stored:
        """Returns as what a value is stored.

        Raises:
            ValueError: It is none of the choices.
        """
        wanted = _identity(plain(value))
        return self.stored[[_identity(known) for known in self.objects].index(wanted)]


def plain(value: object) -> object:
    """Returns a number or text of numpy as Python's own, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _distinct(values: Iterable[object]) -> Iterator[object]:
    seen = set()
    for value in values:
        identity = _identity(value)
        if identity not in seen:
            seen.add(identity)
            yield value


def _identity(value: object) -> tuple[type, object]:
    """Returns what tells a value from others; the type belongs to it, and a NaN is equal to itself."""
    return (type(value), repr(value)) if type(value) in _PLAIN else (type(value), id(value))


def _label(value: object, taken: list[Stored]) -> str:
    name = getattr(value, "__qualname__", None) or _ADDRESS.sub("", repr(value))
    short = name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 3] + "..."
    label, count = short, 1
    while label in taken:
        count += 1
        label = f"{short} ({count})"
    return label
