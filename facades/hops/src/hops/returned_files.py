"""Files that a training function names in what it returns are kept with its run, as since release 1.1."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hops.eras import Era
from hopyard.tensorboard import logdir


class KeepsFiles:
    """A training function that runs on a node: the files that it returns by name are copied to the log folder.

    Args:
        function: The user's function, whose name and signature this has, too.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, and returns what it returns."""
        value = self._function(*args, **kwargs)
        for file in value.values() if isinstance(value, Mapping) else ():
            if isinstance(file, str) and os.path.isfile(file):
                keep(Path(file).resolve(), Path(logdir()).resolve())
        return value


def keeping(function: Callable[..., Any], era: Era) -> Callable[..., Any]:
    """Returns a function that keeps the files it returns, if programs of an era expect that."""
    return KeepsFiles(function) if era is Era.TUPLES and callable(function) else function


def keep(file: Path, folder: Path) -> None:
    """Copies a file into a folder, unless it is below it or the folder has a file of that name."""
    target = folder / file.name
    if not file.is_relative_to(folder) and not target.exists():
        shutil.copyfile(file, target)
