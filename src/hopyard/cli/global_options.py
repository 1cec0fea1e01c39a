"""Where the options of all commands may stand; kept apart from typer, which takes long to import."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

OPTIONS = ("--root", "--project")
FLAGS = ("--debug",)


def globals_first(arguments: Sequence[str]) -> list[str]:
    """Returns the arguments with the global options in front, wherever the user put them."""
    ahead: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in FLAGS or word.startswith(tuple(f"{name}=" for name in OPTIONS)):
            ahead.append(word)
        elif word in OPTIONS:
            ahead += [word, *itertools.islice(words, 1)]
        else:
            rest.append(word)
    return ahead + rest
