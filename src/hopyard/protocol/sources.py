"""The source of a user's functions, for tracebacks on nodes: the file, or the cell of a notebook, is not there."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

MOST_CHARACTERS = 1_000_000  # a program that somebody wrote has less


def sources_of(codes: Iterable[CodeType]) -> dict[str, str]:
    """Returns the text of each file that some functions are from, as far as it can be had."""
    texts = {name: "".join(linecache.getlines(name)) for name in sorted({code.co_filename for code in codes})}
    return {name: text for name, text in texts.items() if 0 < len(text) <= MOST_CHARACTERS}


@dataclass(frozen=True, slots=True)
class WithSources:
    """A call on its way to a node, where it arrives as itself: tracebacks there can show the lines of its files."""

    sources: Mapping[str, str]
    call: Callable[..., Any]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return _unpacked, (self.sources, self.call)


def _unpacked(sources: Mapping[str, str], call: Callable[..., Any]) -> Callable[..., Any]:
    for name, text in sources.items():
        # no time of change: what is here under that name, if anything, may be another version
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return call
