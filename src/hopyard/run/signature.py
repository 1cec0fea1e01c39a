"""Options that a function takes as ``**options``, shown by `help`, `inspect.signature` and ``?`` in a notebook."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Shown = TypeVar("Shown", bound=Callable[..., Any])

OPTIONS_ENTRY = re.compile(r"^    options: .*\n?(?:     .*\n?)*", re.MULTILINE)
ENTRIES = re.compile(r"^Attributes:\n((?:    .*\n?)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ShowsOptions:
    """A decorator for functions and classes: what is shown of them has the options one by one.

    Attributes:
        documented: The `TypedDict` of the options; its docstring explains them.
        with_usual_values: A function whose keyword parameters are the options with their usual values.
    """

    documented: type
    with_usual_values: Callable[..., object]

    def __call__(self, shown: Shown) -> Shown:
        """Returns the function or class itself, with a fuller signature and docstring."""
        own = inspect.signature(shown)
        named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        options = inspect.signature(self.with_usual_values).parameters.values()
        shown.__signature__ = own.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
        if shown.__doc__ and self.documented.__doc__:  # python -OO has none
            entries = ENTRIES.search(inspect.cleandoc(self.documented.__doc__) + "\n")
            assert entries, f"{self.documented.__name__} documents no attributes"
            text = entries.group(1)
            shown.__doc__ = OPTIONS_ENTRY.sub(lambda _: text, inspect.cleandoc(shown.__doc__), count=1)
        return shown
