"""Lines of a node's output that wait for the next heartbeat."""

from __future__ import annotations

import threading

MOST_LINES = 500
LONGEST_LINE = 1000
MOST_CHARACTERS = (
    100_000  # six bytes each at the worst, so that a heartbeat stays below the limit of a message
)


class UnsentLines:
    """A bounded store of lines: what does not fit is counted, and the count is told in its place."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._characters = 0
        self._skipped = 0
        self._lock = threading.Lock()

    def add(self, line: str) -> None:
        """Takes a line; a very long one is cut."""
        shown = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ..."
        with self._lock:
            is_full = len(self._lines) >= MOST_LINES or self._characters + len(shown) > MOST_CHARACTERS
            if is_full or self._skipped:  # no line after one that is missing, or nobody would see the gap
                self._skipped += 1
                return
            self._lines.append(shown)
            self._characters += len(shown)

    def take(self) -> tuple[str, ...]:
        """Returns the lines since the last call."""
        with self._lock:
            lines, self._lines, self._characters = self._lines, [], 0
            skipped, self._skipped = self._skipped, 0
        if skipped:
            lines.append(f"[hopyard] {skipped} more lines are in the log only")
        return tuple(lines)
