"""Runs the benchmarks, prints their tables and keeps them in RESULTS.md: ``python -m benchmarks [name …]``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.report import machine

NAMES = (
    "walk",
    "launch",
    "cluster",
    "feed",
    "feed_stages",
    "feed_cpu",
    "feed_memory",
    "store",
    "run_index",
    "wire",
    "search",
    "search_many",
    "search_async",
    "search_asha",
)
RESULTS = Path(__file__).with_name("RESULTS.md")


def main(names: list[str]) -> int:
    tables = []
    for name in names or NAMES:
        table = importlib.import_module(f"benchmarks.{name}").run()
        print(table.render(), flush=True)
        tables.append(table)
    if not names:
        text = "\n".join(table.render() for table in tables)
        RESULTS.write_text(f"# Results of `make bench`\n\nMeasured in one run on {machine()}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
