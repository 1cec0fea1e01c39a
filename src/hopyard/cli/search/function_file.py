"""A function that is named on the command line: ``FILE.py:FUNCTION``."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hopyard.errors import InvalidSetting


def load_function(text: str) -> Callable[..., Any]:
    """Returns the function that a text names; modules beside its file are found from now on.

    Args:
        text: A path and a name, such as ``programs/train.py:train``.

    Raises:
        InvalidSetting: There is no such file or function, or the file cannot be loaded.
    """
    file, _, name = text.rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        raise InvalidSetting(text, "name a Python file and a function in it, as in train.py:train")
    path = Path(file).expanduser().absolute()
    if not path.is_file():
        raise InvalidSetting(text, f"there is no file {path}; check the path")
    module = load_module(text, path)
    function = getattr(module, name, None)
    if not callable(function):
        has = ", ".join(functions_of(module)) or "none, since it has no functions"
        raise InvalidSetting(text, f"{path.name} has no function {name!r}; choose from {has}")
    found: Callable[..., Any] = function
    return found


def load_module(text: str, path: Path) -> ModuleType:
    """Returns the module that a file holds, after running it as an import does."""
    # by its own name, as the user's other modules import it; but not in place of what is loaded already
    name = f"{path.stem}_of_search" if path.stem in sys.modules else path.stem
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        reason = f"{path.name} cannot be loaded: {where(error, path)}{type(error).__name__}: {said(error)}"
        raise InvalidSetting(text, reason) from error
    return module


def functions_of(module: ModuleType) -> list[str]:
    """Returns the names of the functions that a module defines for others, in its order."""
    return [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
    ]


def where(error: Exception, path: Path) -> str:
    """Returns the line of a file in which an error arose; empty if it arose nowhere in it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines = [error.lineno]
    return f"line {lines[-1]}: " if lines else ""


def said(error: Exception) -> str:
    """Returns the text of an error, without the file that a `SyntaxError` repeats, and without a full stop."""
    return (error.msg if isinstance(error, SyntaxError) else str(error)).rstrip(".")
