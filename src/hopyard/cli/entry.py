"""Where the ``hopyard`` program begins: what a shell asks after the Tab key is answered before anything slow is loaded."""

from __future__ import annotations

import os
import sys

from hopyard.cli.completion import quick_offer


def main() -> None:
    """Runs the command, or answers the shell."""
    words = quick_offer(os.environ)
    if words is None:
        from hopyard.cli.main import main as run_command

        run_command()
    else:
        sys.stdout.writelines(f"{word}\n" for word in words)
