"""Names of options that a call does not know: which one its user means."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from hopyard.errors import BadArguments

P = ParamSpec("P")
R = TypeVar("R")

_OF_FEEDS = {
    "validation": "validation_split validation_data val_split test_size eval_set",
    "epochs": "num_epochs n_epochs nb_epoch",
    "shuffle_seed": "seed shuffle random_state random_seed",
    "feed_timeout": "timeout timeout_seconds",
    "schema": "output_schema result_schema returntype",
    "keep": "columns keep_columns",
}
_BATCHES = "say how many rows a batch has in the function: ctx.feed().as_numpy(32)"
_LABEL = (
    "say which column is to be learnt in the function, as label= of the dataset that it makes of ctx.feed()"
)


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


def checks_feed_options(method: Callable[P, R]) -> Callable[P, R]:
    """Returns a method that feeds, which tells what is meant where it is called with an option that it does not have."""
    known = frozenset(inspect.signature(method).parameters)
    names = OptionNames(
        call=f"Cluster.{method.__name__}",
        known=known,
        elsewhere={word: option for option, words in _OF_FEEDS.items() for word in words.split()},
        instead={"batch_size": _BATCHES, "label": _LABEL},
        own="give it to your function: Cluster(fn, {{{0!r}: ...}})",
    )

    @functools.wraps(method)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        names.check(options)
        return method(*args, **options)

    return checked


def _parameters(fn: object) -> frozenset[str]:
    """Returns the names of a function's parameters, as far as it tells."""
    try:
        return frozenset(inspect.signature(fn).parameters if callable(fn) else ())
    except ValueError:  # some builtins tell no signature
        return frozenset()
