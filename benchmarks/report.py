"""Tables of measurements, as text for the terminal and for RESULTS.md."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

PACKAGES = ("hopyard", "pyspark", "pyarrow", "fsspec", "hdfs-native", "s3fs", "cloudpickle", "optuna")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text under a title; the notes say how to read them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: str = ""

    def render(self) -> str:
        cells = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells
        ]
        lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
        return "\n".join([f"## {self.title}", "", *lines, "", self.notes.strip(), ""])


def machine() -> str:
    """Returns what the figures were measured on and with."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; {versions}."
    )


def median_seconds(work: Callable[[], object], times: int) -> float:
    """Returns the median duration of a piece of work."""
    durations = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        durations.append(time.perf_counter() - began)
    return statistics.median(durations)


def per_second(work: Callable[[], object], seconds: float) -> float:
    """Returns how often a piece of work can be done in a second."""
    count = 0
    began = time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds:
        work()
        count += 1
    return count / elapsed
