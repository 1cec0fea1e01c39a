"""Parallel trials of a function: which parameters to try, where, and what came of them.

``hopyard.search`` is this package and the function that searches, which has the same name: calling the package calls
`hopyard.search.api.search`. What can be imported from here is loaded when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hopyard.errors import MissingDependency

if TYPE_CHECKING:
    from hopyard.search.api import ablation, differential_evolution, grid_search, random_search
    from hopyard.search.parameters import Choice, Range
    from hopyard.search.study import Study

__all__ = [
    "Choice",
    "Range",
    "Study",
    "ablation",
    "differential_evolution",
    "grid_search",
    "random_search",
]

_HOME = {
    "Choice": "hopyard.search.parameters",
    "Range": "hopyard.search.parameters",
    "Study": "hopyard.search.study",
    "ablation": "hopyard.search.api",
    "differential_evolution": "hopyard.search.api",
    "grid_search": "hopyard.search.api",
    "random_search": "hopyard.search.api",
    "search": "hopyard.search.api",
}


def __getattr__(name: str) -> Any:
    """Loads a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'hopyard.search' has no attribute {name!r}")
    if find_spec("optuna") is None:
        raise MissingDependency("optuna", "searches", "search")
    return getattr(import_module(_HOME[name]), name)


class _Search(ModuleType):
    """This package, which can be called as the function of the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls `hopyard.search.api.search`."""
        return __getattr__("search")(*args, **kwargs)


sys.modules[__name__].__class__ = _Search
