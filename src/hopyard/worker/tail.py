"""The last lines of a node's output that tell a user something."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from hopyard.frameworks.registry import log_patterns

TAIL_LINES = 30
SEARCHED_LINES = 300  # what is looked through for them
_TRACEBACK = "Traceback (most recent call last):"
_GRAPH_PLACE = re.compile(r"^\s*(\[\[.*\]\])?$")  # follows an error that a framework has logged again


class Tail:
    """Remembers the end of a node's output."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=SEARCHED_LINES)

    def add(self, line: str) -> None:
        """Takes the next line."""
        self._lines.append(line)

    def last(self, traceback: str | None) -> tuple[str, ...]:
        """Returns the last lines that say more than a traceback, which is shown anyway."""
        return last_lines(tuple(self._lines), traceback)


def last_lines(lines: Iterable[str], traceback: str | None = None) -> tuple[str, ...]:
    """Returns the last lines of an output, without a traceback that it holds and without the chatter of frameworks.

    Args:
        lines: The output, or enough of its end.
        traceback: What is shown anyway; None if there is nothing.
    """
    chatter, retold = log_patterns()
    rest = tuple(_without_statuses(tuple(lines), traceback or "", retold))
    told = tuple(_without(rest, (traceback or "").splitlines()))
    chosen = [line for line in told if not any(pattern.search(line) for pattern in chatter)]
    # where there is nothing else, chatter is better than silence
    return tuple((chosen or ([] if traceback else told))[-TAIL_LINES:])


def _without_statuses(
    lines: Sequence[str], traceback: str, retold: Sequence[re.Pattern[str]]
) -> Iterator[str]:
    """Yields the lines without what a framework logs of the error whose traceback is shown."""
    place = 0
    while place < len(lines):
        skipped = _status_length(lines[place:], traceback, retold)
        if not skipped:
            yield lines[place]
        place += skipped or 1


def _status_length(lines: Sequence[str], traceback: str, retold: Sequence[re.Pattern[str]]) -> int:
    """Returns how many lines tell an error that is shown anyway; 0 if the first one does not begin to."""
    status = next(filter(None, (pattern.match(lines[0]) for pattern in retold)), None)
    if status is None or status["error"] not in traceback or lines[1:2] != (_TRACEBACK,):
        return 0
    ends = [place for place, line in enumerate(lines) if place and line.endswith(status["error"])]
    end = ends[0] + 1 if ends else 0
    while end and end < len(lines) and _GRAPH_PLACE.match(lines[end]):
        end += 1
    return end


def _without(lines: Sequence[str], block: Sequence[str]) -> Iterator[str]:
    """Yields the lines that are not part of a block, of which the beginning may be missing."""
    place = 0
    while place < len(lines):
        skipped = _length_at(lines, place, block)
        if not skipped:
            yield lines[place]
        place += skipped or 1


def _length_at(lines: Sequence[str], place: int, block: Sequence[str]) -> int:
    """Returns how many lines of a block are here; 0 if it is not here."""
    starts = range(len(block)) if place == 0 else (0,)  # the lines before the first are forgotten
    for start in starts:
        part = list(block[start:])
        if part and list(lines[place : place + len(part)]) == part:
            return len(part)
    return 0
