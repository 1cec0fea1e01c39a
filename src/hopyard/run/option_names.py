"""Names of options that a call does not know: which one its user means."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hopyard.errors import BadArguments


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionNames:
    """The names that a call knows, and those that users bring from elsewhere.

    Attributes:
        call: What is called, as a user writes it after ``hopyard.``
        known: The options that it has.
        elsewhere: Which option it is that other libraries call so.
        instead: What to do where there is no such option.
        own: How a parameter of the user's function is given; the name takes the place of ``{0}``.
    """

    call: str
    known: frozenset[str]
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    own: str

    def check(self, given: Iterable[str], fn: object = None) -> None:
        """Checks that the call has options of these names.

        Args:
            given: The names.
            fn: The user's function.

        Raises:
            BadArguments: It has not; the error names the option that is meant.
        """
        for name in given:
            if name not in self.known:
                raise BadArguments(self.call, f"there is no option {name!r}; {self._remedy(name, fn)}")

    def _remedy(self, name: str, fn: object) -> str:
        if name in _parameters(fn):
            return self.own.format(name)
        option = self.elsewhere.get(name.lower(), name)
        if option in self.instead:
            return self.instead[option]
        if option in self.known:
            return f"use {option!r}"
        alike = difflib.get_close_matches(name, sorted(self.known), n=1)
        return f"use {alike[0]!r}" if alike else f"see help(hopyard.{self.call})"


def _parameters(fn: object) -> frozenset[str]:
    """Returns the names of a function's parameters, as far as it tells."""
    try:
        return frozenset(inspect.signature(fn).parameters if callable(fn) else ())
    except ValueError:  # some builtins tell no signature
        return frozenset()
