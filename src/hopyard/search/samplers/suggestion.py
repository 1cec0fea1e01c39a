"""Which sampler or pruner is meant by a name that there is none of."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

NEAR = 0.75  # of a spelling; below it, words are suggested that have nothing to do with each other


def did_you_mean(name: str, names: Iterable[str], meanings: Mapping[str, str]) -> str:
    """Returns a question with what is probably meant, and a space behind it; nothing if nobody can tell.

    Args:
        name: What was given.
        names: What there is.
        meanings: The names for the same that are common elsewhere, in a line, by what there is: one name or several.
    """
    plain = name.lower().replace("-", "_").replace(" ", "_")
    same = [meant for meant, others in meanings.items() if plain in others.split()]
    near = same or difflib.get_close_matches(plain, list(names), n=1, cutoff=NEAR)
    return f"Did you mean {' or '.join(map(repr, near[0].split()))}? " if near else ""
