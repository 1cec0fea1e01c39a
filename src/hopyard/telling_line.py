"""Which line of an error's text tells what went wrong, where the first one does not."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPARK = re.compile(r"^An (exception was thrown from the Python worker|error occurred while calling)")
_ESCAPES = re.compile(r"\x1b\[[\d;]*m")
_TRACEBACK = "Traceback (most recent call last):"
_JAVA = re.compile(r"^\s+at [\w.$]+\(")


def telling_line(text: str, empty: Iterable[re.Pattern[str]] = ()) -> str | None:
    """Returns the line of an error's text that tells what went wrong; None if that is the first one, or none does.

    Args:
        text: What the error says.
        empty: What is in lines that tell nothing; Spark's are known.
    """
    patterns = (_SPARK, *empty)
    lines = [_ESCAPES.sub("", line).rstrip() for line in text.strip().splitlines()]
    if not lines or not any(pattern.search(lines[0]) for pattern in patterns):
        return None
    return _raised(lines) or next(
        (
            line
            for line in lines
            if line and not line[0].isspace() and not any(pattern.search(line) for pattern in patterns)
        ),
        None,
    )


def _raised(lines: list[str]) -> str | None:
    """Returns the last line of the traceback of Python in a text, which may go on with one of Java."""
    begin = next((place for place, line in enumerate(lines) if line.endswith(_TRACEBACK)), None)
    if begin is None:
        return None
    end = next((place for place, line in enumerate(lines) if _JAVA.match(line)), len(lines))
    # what is raised stands behind the lines about the code, which are indented
    ends = [
        line
        for before, line in zip(lines[begin:end], lines[begin + 1 : end], strict=False)
        if line and not line[0].isspace() and before[:1].isspace()
    ]
    return ends[-1] if ends else None
