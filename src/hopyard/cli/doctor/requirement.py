"""What a package asks for in its metadata: names, versions and extras."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(\[(?P<extras>[^]]*)\])?\s*(?P<bounds>[^;]*)(;(?P<marker>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[\w.-]+)['"]""")
_BOUND = re.compile(r"\s*(?P<operator>>=|<=|==|!=|<|>)\s*(?P<version>[\w.]+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One line of what a package asks for.

    Attributes:
        name: The distribution.
        inner: Extras of that distribution.
        bounds: Which versions, as written: ``>=4.0,<4.4``.
        extra: The extra that it belongs to; empty if everyone needs it.
    """

    name: str
    inner: tuple[str, ...] = ()
    bounds: str = ""
    extra: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Returns the requirement that a line of metadata holds."""
        match = _REQUIREMENT.match(text)
        assert match is not None, text
        extra = _EXTRA.search(match["marker"] or "")
        inner = tuple(part.strip() for part in (match["extras"] or "").split(",") if part.strip())
        bounds = match["bounds"].strip().strip("()").replace(" ", "")
        return cls(name=match["name"], inner=inner, bounds=bounds, extra=extra["extra"] if extra else "")

    def is_met_by(self, version: str) -> bool:
        """Whether a version is within the bounds; of kinds of bounds that are not understood, each is met."""
        matches = (_BOUND.fullmatch(part) for part in self.bounds.split(","))
        return all(_holds(version, match["operator"], match["version"]) for match in matches if match)


def by_extra(lines: Iterable[str]) -> dict[str, tuple[Requirement, ...]]:
    """Returns what each extra asks for, in the order of the metadata; nested extras are written out."""
    found: dict[str, list[Requirement]] = {}
    for each in map(Requirement.parse, lines):
        if each.extra:
            found.setdefault(each.extra, []).append(each)
    return {extra: tuple(_written_out(extra, found)) for extra in found}


def _written_out(extra: str, found: dict[str, list[Requirement]]) -> Iterable[Requirement]:
    for each in found.get(extra, ()):
        if each.name == "hopyard":
            for inner in each.inner:
                yield from _written_out(inner, found)
        else:
            yield each


def _holds(version: str, operator: str, bound: str) -> bool:
    have, want = _numbers(version), _numbers(bound)
    length = max(len(have), len(want))
    have, want = have + (0,) * (length - len(have)), want + (0,) * (length - len(want))
    return {
        ">=": have >= want,
        ">": have > want,
        "<=": have <= want,
        "<": have < want,
        "==": have == want,
        "!=": have != want,
    }[operator]


def _numbers(version: str) -> tuple[int, ...]:
    """Returns the numbers at the start of a version: 2, 6 for ``2.6rc1+cpu``."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()
