"""Reads all trials of the newest study in a fresh process, and tells how long that took: ``python -m benchmarks.search_read``."""

from __future__ import annotations

import json
import time

began = time.perf_counter()

from hopyard.search.study.study import Study  # noqa: E402  its import is part of what is measured

imported = time.perf_counter()


def main() -> None:
    """Prints the number of trials and the seconds."""
    trials = Study.load("last").trials
    read = time.perf_counter()
    print(json.dumps({"trials": len(trials), "import": imported - began, "read": read - imported}))


if __name__ == "__main__":
    main()
