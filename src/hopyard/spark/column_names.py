"""Names of columns, which Spark does not always find by them: it looks for ``a.b`` in ``a``, and for ``X`` in ``x``."""

from __future__ import annotations

import re
from collections.abc import Sequence


def are_plain(names: Sequence[str]) -> bool:
    """Tells whether Spark finds each column by its name, whatever its settings are."""
    differ = len({name.casefold() for name in names}) == len(names)
    return differ and all(re.fullmatch(r"\w+", name) for name in names)


def places(names: Sequence[str]) -> list[str]:
    """Returns a plain name for each column: its place."""
    return [str(place) for place, _ in enumerate(names)]
