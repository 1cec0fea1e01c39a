"""What a trial prints, cut off from what others print in the same process, and bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

MOST_BYTES = 64 << 20
TAIL_LINES = 100


class TrialOutput:
    """Hands on the lines of one trial up to the line that marks its end.

    Of a trial that prints without an end the beginning and the last lines are kept, and how much was left out.

    Args:
        token: The line that marks the end.
        on_line: Receives each line.
        most_bytes: How much is handed on before lines are left out.
    """

    def __init__(self, token: str, on_line: Callable[[bytes], None], most_bytes: int = MOST_BYTES) -> None:
        self._token = token.encode()
        self._on_line = on_line
        self._most_bytes = most_bytes
        self._bytes = 0
        self._left_out = 0
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._is_blank = False  # an empty line was held back: the mark begins with a line break
        self.is_complete = False

    def feed(self, line: bytes) -> None:
        """Takes the next line."""
        if line == self._token:
            self.is_complete = True
            return
        if self._is_blank:
            self._hand_on(b"")
        self._is_blank = not line
        if line:
            self._hand_on(line)

    def close(self) -> None:
        """Hands on what was held back."""
        if self._is_blank and not self.is_complete:
            self._hand_on(b"")
        skipped = self._left_out - sum(len(line) + 1 for line in self._tail)
        if skipped > 0:
            self._on_line(f"[hopyard] {skipped:,} bytes of output are left out here".encode())
        for line in self._tail:
            self._on_line(line)

    def _hand_on(self, line: bytes) -> None:
        if self._bytes < self._most_bytes:
            self._bytes += len(line) + 1
            self._on_line(line)
        else:
            self._left_out += len(line) + 1
            self._tail.append(line)
