"""Something to do as soon as a module has been imported, by whomever."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Action = Callable[[ModuleType], None]


def after_import(actions: Mapping[str, Action]) -> None:
    """Has each action called with the module of its name at the end of the module's import, or now if it is loaded.

    An action that raises makes the import fail, and is called again at the next try.
    """
    awaited = dict(actions)
    for name in [name for name in actions if name in sys.modules]:
        awaited.pop(name)(sys.modules[name])
    if awaited:
        sys.meta_path.insert(0, _Watcher(awaited))


class _Watcher(MetaPathFinder):
    """Stands before the finders of modules and lets loaders call an action when they are done."""

    def __init__(self, awaited: dict[str, Action]) -> None:
        self.awaited = awaited

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns what the other finders say, with a loader that calls the action; None for all other modules."""
        if fullname not in self.awaited:
            return None
        spec = self._found_by_others(fullname, path, target)
        if spec is not None and spec.loader is not None:
            # The loader stays the one that it is, since resources of the module are read through it.
            loader = spec.loader
            loader.exec_module = partial(self._load, loader, fullname)  # type: ignore[method-assign]
        return spec

    def _found_by_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
        return None

    def _load(self, loader: Loader, fullname: str, module: ModuleType) -> None:
        del loader.exec_module  # what is left is the method of its class
        loader.exec_module(module)
        if fullname in self.awaited:
            self.awaited[fullname](sys.modules.get(fullname, module))
            del self.awaited[fullname]
        if not self.awaited:
            # A new list: another thread may be going through the old one.
            sys.meta_path = [finder for finder in sys.meta_path if finder is not self]
