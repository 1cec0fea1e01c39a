"""How many segments a second each store takes from one writer."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.report import Table, per_second

from hopyard.store import Project, SegmentWriter
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.testing.s3_server import S3Server

SECONDS = 5.0
LINES = 100
LINE = b"x" * 99 + b"\n"


class Raw:
    """What the disk gives a program that writes a temporary file and renames it, and does nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        temporary = self.folder / f"{self.count}.tmp"
        temporary.write_bytes(LINE * LINES)
        os.rename(temporary, self.folder / f"{self.count}.done")


class Segments:
    """Writes one segment of 10 kB per call."""

    def __init__(self, project: Project) -> None:
        self.writer = SegmentWriter(project, "bench")

    def __call__(self) -> None:
        for _ in range(LINES):
            self.writer.append(LINE)
        self.writer.flush()


def projects(resources: ExitStack) -> Iterator[tuple[str, Project]]:
    """Yields one project for each kind of store; the servers end with the resources."""
    yield "local", Project.open(resources.enter_context(tempfile.TemporaryDirectory()), "bench")
    yield "memory", Project.open("memory://bench", "bench")
    hdfs = resources.enter_context(MiniHDFS())
    yield "hdfs (hdfs-native)", Project.open(hdfs.url, "bench")
    yield "webhdfs", Project.open(hdfs.webhdfs_url, "bench-web")
    s3 = resources.enter_context(S3Server())
    yield "s3 (moto)", Project.open(s3.new_bucket(), "bench", storage_options=s3.storage_options)


def run() -> Table:
    """Measures every store, one after the other."""
    with ExitStack() as resources:
        raw = per_second(Raw(Path(resources.enter_context(tempfile.TemporaryDirectory()))), SECONDS)
        rows = [("write + rename by hand, local", f"{raw:.0f}", "1.000")]
        for name, project in projects(resources):
            rate = per_second(Segments(project), SECONDS)
            rows.append((name, f"{rate:.0f}", f"{rate / raw:.3f}"))
    return Table(
        title="Segment writes per second",
        columns=("store", "segments/s", "ratio to by hand"),
        rows=tuple(rows),
        notes=f"One writer, segments of {LINES} lines of 100 bytes, {SECONDS:.0f} s each. A write-once segment is a "
        "temporary file, a link and an unlink where the comparison only renames. hdfs-native waits about half a "
        "second for the end of each file and has no setting for it; several writers wait side by side.",
    )
