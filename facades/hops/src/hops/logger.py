"""Lines of a program's log; ``from hops import logger``."""

from __future__ import annotations

import sys


def log(s: object) -> None:
    """Writes a line; inside a training function it goes to the log of the run."""
    sys.stdout.write(f"{s}\n")
    sys.stdout.flush()
