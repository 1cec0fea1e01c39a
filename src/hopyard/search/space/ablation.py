"""Ablation studies: what becomes of the objective when one component is left out."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopyard.errors import InvalidSearch, InvalidSpace
from hopyard.search.space.parameters import Choice, shown
from hopyard.search.space.reader import CONTEXT
from hopyard.search.space.signature import check_function
from hopyard.search.space.space import Space

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

    from hopyard.codec.json_value import Json

LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """The space of an ablation study: which component, if any, is left out.

    The function gets the list of the components that remain, for each group, and the name of the one that was left
    out if it has a parameter ``left_out``. In the first trial, which has everything, that is None.

    Attributes:
        components: What can be left out, by group, such as ``{"features": ("age", "sex"), "layers": ("dense",)}``.
        tells_left_out: Whether the function gets ``left_out``.
    """

    components: Mapping[str, tuple[str, ...]]
    tells_left_out: bool = False

    @classmethod
    def of(cls, components: Mapping[str, Sequence[str]], function: Callable[..., Any]) -> Ablation:
        """Returns the space for a function and the components it can do without.

        Raises:
            InvalidSpace: A group is no list of different names.
            InvalidSearch: There are no components.
        """
        if not isinstance(components, Mapping) or not components:
            raise InvalidSearch(
                f"the components are {shown(components)}", "Give a dict from group to list of names"
            )
        for group, names in components.items():
            _check_group(group, names)
        wants_left_out = LEFT_OUT in inspect.signature(function).parameters
        lists = {group: tuple(names) for group, names in components.items()}
        return cls(components=lists, tells_left_out=wants_left_out)

    @property
    def space(self) -> Space:
        """The one parameter that is stored, ``left_out``."""
        return Space.of({LEFT_OUT: Choice([None, *self._places])})

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The trials: one with everything, then one without each component."""
        return self.space.grid()

    @property
    def names(self) -> tuple[str, ...]:
        """The one parameter that is stored."""
        return self.space.names

    @property
    def always(self) -> tuple[str, ...]:
        """The same: each trial has it."""
        return self.space.always

    @property
    def distributions(self) -> Mapping[str, BaseDistribution]:
        """None and the names of all components, of which one is chosen."""
        return self.space.distributions

    def suggest(self, trial: Trial) -> None:
        """Gives a trial the component to leave out."""
        self.space.suggest(trial)

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the components that remain, by group, and the one that does not if the function wants to know."""
        left_out = params[LEFT_OUT]
        gone = self._places.get(left_out)
        remain = {
            group: [name for name in names if (group, name) != gone]
            for group, names in self.components.items()
        }
        return remain | ({LEFT_OUT: left_out} if self.tells_left_out else {})

    def to_json(self) -> dict[str, Json]:
        """Returns the components by group."""
        return {group: list(names) for group, names in self.components.items()}

    def check(self, function: Callable[..., Any]) -> None:
        """Checks that a function takes all groups, and needs nothing else.

        Raises:
            BadArguments: It does not.
        """
        told = [LEFT_OUT] if self.tells_left_out else []
        check_function(function, always=[*self.components, *told])

    @property
    def _places(self) -> dict[str, tuple[str, str]]:
        """Group and name of each component, by what it is called among all; a name in several groups is qualified."""
        places = [(group, name) for group, names in self.components.items() for name in names]
        uses = Counter(name for _, name in places)
        return {name if uses[name] == 1 else f"{group}.{name}": (group, name) for group, name in places}


def _check_group(group: str, names: object) -> None:
    if not str(group).isidentifier() or group in (LEFT_OUT, CONTEXT):
        raise InvalidSpace(str(group), shown(names), "Name the group like a parameter of the function")
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise InvalidSpace(group, shown(names), "Give a list of names")
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InvalidSpace(group, shown(names), "Give a list of different names")
