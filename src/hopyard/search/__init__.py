"""Parallel trials of a function: which parameters to try, where, and what came of them.

``hopyard.search`` is this package and the function that searches, which has the same name: calling the package calls
`hopyard.search.api.search`. What can be imported from here is loaded when it is first used.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hopyard.errors import MissingDependency

if TYPE_CHECKING:
    from hopyard.search.api import ablation, differential_evolution, grid_search, random_search
    from hopyard.search.space.parameters import Choice, Range
    from hopyard.search.study.study import Study

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
    "Choice": "hopyard.search.space.parameters",
    "Range": "hopyard.search.space.parameters",
    "Study": "hopyard.search.study.study",
    "ablation": "hopyard.search.api",
    "differential_evolution": "hopyard.search.api",
    "grid_search": "hopyard.search.api",
    "random_search": "hopyard.search.api",
    "search": "hopyard.search.api",
}


def _load_tqdm() -> None:
    """Loads the progress bars of Optuna, which Hopyard never shows.

    In a notebook without ipywidgets they warn when they are loaded. Whichever module of this package is imported
    first, they are there by then.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress not found")
        import_module("tqdm.auto")


def __getattr__(name: str) -> Any:
    """Loads a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'hopyard.search' has no attribute {name!r}")
    if find_spec("optuna") is None:
        raise MissingDependency("optuna", "a search", "search")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """Returns the public names, loaded or not."""
    return sorted({*globals(), *__all__})


class _Search(ModuleType):
    """This package, which can be called as the function of the same name, and is described as that function is."""

    @property
    def __call__(self) -> Callable[..., Any]:
        """The function itself, so that whoever looks at the call sees its parameters."""
        function: Callable[..., Any] = __getattr__("search")
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the function, for `inspect` and Jupyter."""
        try:
            return inspect.signature(__getattr__("search"))
        except MissingDependency as error:
            raise AttributeError(str(error)) from error

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]  # a module's is a variable
        """The description of the function, for `help` and Jupyter; that of the package without Optuna."""
        text = self.__dict__["__doc__"]
        if find_spec("optuna") is None:
            return str(text)
        function = __getattr__("search")
        summary, _, rest = (inspect.getdoc(function) or "").partition("\n")
        return f"{summary}\n\nhopyard.search{_shown(inspect.signature(function))}\n{rest}\n\n{text}"


def _shown(signature: inspect.Signature) -> str:
    """Returns a signature with a line for each parameter."""
    lines: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "    *," not in lines:
            lines.append("    *,")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {parameter.name}: {parameter.annotation}{default},")
    return "\n".join(["(", *lines, f") -> {signature.return_annotation}"])


sys.modules[__name__].__class__ = _Search
if "ipykernel" in sys.modules and find_spec("optuna") is not None:
    _load_tqdm()
