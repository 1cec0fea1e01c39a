"""What runs and searches check alike: the options that say how something is called, kept, shown, and where it runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hopyard.store import Project

NAME = "give a text of 1 to 100 characters on one line other than 'last', such as name='mnist'"
TEXT = "give a text, such as {0}='mnist'"
LONGEST_SHOWN = 60
LONGEST_NAME = 100
_CLEANED = LONGEST_NAME - 10  # a number may follow
RESERVED = "last"  # the newest run, or study


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongOption:
    """An option that has a value of another type than it can have.

    Attributes:
        given: The option with its value, as a user writes it.
        remedy: What to give instead.
    """

    given: str
    remedy: str


def first_wrong(options: Mapping[str, object]) -> WrongOption | None:
    """Returns the first of a user's options that cannot be; None if all can. Options that are None are not given."""
    for name, (fits, remedy) in _expected().items():
        value = options.get(name)
        if value is not None and not fits(value):
            text = repr(value)
            shown = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
            return WrongOption(given=f"{name}={shown}", remedy=remedy)
    return None


def is_name(value: object) -> bool:
    """Tells whether something can be the name of a run or a study: it stands in tables, and a user types it."""
    if not isinstance(value, str) or not value.strip() or value == RESERVED:
        return False
    return len(value) <= LONGEST_NAME and not any(map(_is_control, value))


def as_name(text: str) -> str | None:
    """Returns the name that comes closest to a text which an old program gives for one; None if nothing is left."""
    kept = " ".join("".join(" " if _is_control(each) else each for each in text).split())[:_CLEANED].strip()
    return f"{kept}-1" if kept == RESERVED else kept or None


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _expected() -> dict[str, tuple[Callable[[object], bool], str]]:
    return {
        "name": (is_name, NAME),
        "description": (_is_text, TEXT.format("description")),
        "kind": (_is_text, TEXT.format("kind")),
        "progress": (_is_switch, "give True, False or None"),
        "tls": (_is_switch, "give True, False or None"),
        "project": (_is_project, "give a Project, such as project=hopyard.Project.open(name='mnist')"),
        "spark": (_is_spark, "give a SparkSession, such as spark=hopyard.local_spark()"),
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_project(value: object) -> bool:
    return isinstance(value, Project)


def _is_spark(value: object) -> bool:
    """Tells whether something is of pyspark, without importing that."""
    return any(base.__module__.partition(".")[0] == "pyspark" for base in type(value).__mro__)
