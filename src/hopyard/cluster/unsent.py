"""Lines of a node's output that wait for the next heartbeat."""

from __future__ import annotations

import threading

MOST_LINES = 500
LONGEST_LINE = 1000


class UnsentLines:
    """A bounded store of lines: what does not fit is counted, and the count is told in its place."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._skipped = 0
        self._lock = threading.Lock()

    def add(self, line: str) -> None:
        """Takes a line; a very long one is cut."""
        with self._lock:
            if len(self._lines) >= MOST_LINES:
                self._skipped += 1
                return
            self._lines.append(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ...")

    def take(self) -> tuple[str, ...]:
        """Returns the lines since the last call."""
        with self._lock:
            lines, self._lines = self._lines, []
            skipped, self._skipped = self._skipped, 0
        if skipped:
            lines.append(f"[hopyard] {skipped} more lines are in the log only")
        return tuple(lines)
