"""``python -m hopyard`` is the ``hopyard`` command."""

from __future__ import annotations

from hopyard.cli.entry import main

if __name__ == "__main__":
    main()
