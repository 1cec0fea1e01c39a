"""What kind of place a program is started from: whether somebody looks, and whether he types."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Tells whether somebody looks at a stream; what a program put in its place may know less than a file."""
    isatty = getattr(stream, "isatty", None)
    try:
        return isatty is not None and bool(isatty())
    except ValueError:  # it is closed
        return False


def is_typed_at() -> bool:
    """Tells whether somebody types at this very terminal while the program goes on: in a shell of Python."""
    return hasattr(sys, "ps1") and notebook_display() is None and is_terminal(sys.stderr)


def notebook_display() -> Callable[..., Any] | None:
    """Returns IPython's ``display`` in a notebook, None elsewhere."""
    if getattr(_shell(), "kernel", None) is None:
        return None
    display: Callable[..., Any] = importlib.import_module("IPython.display").display
    return display


def notebook_cell() -> int:
    """Returns the number of the cell that runs in a notebook."""
    return int(getattr(_shell(), "execution_count", 0))


def _shell() -> Any:
    ipython = sys.modules.get("IPython")  # in a notebook it is loaded
    return None if ipython is None else ipython.get_ipython()
