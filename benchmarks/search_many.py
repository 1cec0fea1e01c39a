"""A study of 10,000 trials that do nothing: time, memory, and reading it back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.cluster import own_python
from benchmarks.feed_side import ROOT, Side
from benchmarks.report import Table
from benchmarks.search_many_program import PART
from benchmarks.search_processes import KINDS

TRIALS = 10_000
COMMAND = ("trials", "last")


def run() -> Table:
    """Measures the whole study."""
    return measure(TRIALS)


def measure(trials: int) -> Table:
    """Measures a study of some thousands of trials."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = Path(place)
        with Side(own_python(), "benchmarks.search_many_program", folder) as side:
            figures = side.measure({"trials": trials})
        read = _read(folder)
        if read["trials"] != trials:
            sys.exit(f"{read['trials']} of {trials} trials were read back")
        shown = _shown(folder)
    return Table(
        title=f"Searches: a study of {trials:,} trials",
        columns=("what", "figure"),
        rows=tuple(_rows(trials, figures, read, shown)),
        notes=f"Trials that do nothing on 2 slots of `local-cluster[2,1,1024]`, the study in a project on the local disk, after one of 200 trials. Memory is what is "
        "resident, of all processes of a kind together, about a second before so many trials had ended; of what is shared, each process "
        "counts all. Reading is `Study.load().trials` in a fresh Python, without and with its imports, and the command line. "
        f"The load average before the start was {load:.1f}, on {os.cpu_count()} cores.",
    )


def _rows(
    trials: int, figures: Mapping[str, float], read: Mapping[str, float], shown: float | None
) -> Iterator[tuple[str, str]]:
    parts = [figures[f"ms {part + 1}"] for part in range(trials // PART)]
    yield "the whole call, s", f"{figures['seconds']:.1f}"
    yield "ms per trial of each thousand, in order", ", ".join(f"{each:.1f}" for each in parts)
    for kind in KINDS:
        first, last = (figures[f"{count} {kind}"] for count in (PART, trials))
        yield f"{kind}, MB at {PART:,} and at {trials:,} trials", f"{first:.0f}, {last:.0f}"
    yield "all records read back, s", f"{read['read']:.2f}"
    yield "the same with imports, s", f"{read['read'] + read['import']:.2f}"
    if shown is not None:
        yield f"`hopyard {' '.join(COMMAND)}`, s", f"{shown:.2f}"


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "HOPYARD_ROOT": str(folder / "root"), "PYTHONPATH": str(ROOT)}


def _read(folder: Path) -> Mapping[str, float]:
    """Returns what it takes to read all trials in a fresh process."""
    done = subprocess.run(
        [own_python(), "-P", "-m", "benchmarks.search_read"],
        env=_environment(folder),
        check=True,
        capture_output=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _shown(folder: Path) -> float | None:
    """Returns the seconds that the command line takes to list all trials; None if it cannot."""
    began = time.perf_counter()
    done = subprocess.run(
        [Path(sys.executable).with_name("hopyard"), *COMMAND],
        env=_environment(folder),
        check=False,
        capture_output=True,
    )
    return None if done.returncode else time.perf_counter() - began


if __name__ == "__main__":
    print(measure(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS).render())
