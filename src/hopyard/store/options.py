"""Storage options: which ones a store has, and an error for those that nobody would look at."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, Mapping
from typing import Any

from hopyard.errors import UnknownStorageOption
from hopyard.store.location import LOCAL, Location

WITHOUT_OPTIONS = (LOCAL, "memory")


def check_options(
    location: Location, options: Mapping[str, object], known: Collection[str], more: str = ""
) -> None:
    """Refuses options that a store does not have.

    Args:
        location: Where the store is.
        options: What was given.
        known: What it has.
        more: What else it has, in words.

    Raises:
        UnknownStorageOption: One of them is none that it has.
    """
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise UnknownStorageOption(
                str(location), name, near[0] if near else None, (*sorted(known), *filter(None, [more]))
            )


def check_given_options(location: Location, options: Mapping[str, object]) -> None:
    """Refuses options for a store that has none.

    Only what a program gives is looked at: the variable ``HOPYARD_STORAGE_OPTIONS`` may be there for another root.

    Raises:
        UnknownStorageOption: There is one.
    """
    if location.protocol in WITHOUT_OPTIONS:
        check_options(location, options, ())


def parameters(kind: type[Any]) -> set[str]:
    """Returns the names of the arguments that objects of a class are made of."""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    # not the signature of the class itself: a metaclass of fsspec hides it
    found = inspect.signature(kind.__init__).parameters.values()
    return {parameter.name for parameter in found if parameter.kind in by_name} - {"self"}
