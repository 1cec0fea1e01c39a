"""What a launch costs beyond a bare Spark job, and where the time goes."""

from __future__ import annotations

import subprocess
import sys
import tempfile

from benchmarks.report import Table, median_seconds

import hopyard

TIMES = 9


def nothing() -> None:
    """The cheapest training function there is."""


def run() -> Table:
    """Measures launches on an embedded session, side by side with bare jobs."""
    with tempfile.TemporaryDirectory() as root, hopyard.local_spark(executors=2, memory="512m") as spark:
        context = spark.sparkContext
        project = hopyard.Project.open(root)

        def bare(nodes: int) -> None:
            context.parallelize(range(nodes), nodes).map(abs).collect()

        def launched(nodes: int, backend: str) -> None:
            hopyard.launch(nothing, nodes=nodes, backend=backend, project=project)

        work = {
            "bare Spark job, 1 task": lambda: bare(1),
            "bare Spark job, 2 tasks": lambda: bare(2),
            "start of a bare Python": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
            "start of a Python that imports what a node needs": lambda: subprocess.run(
                [sys.executable, "-c", "import hopyard.worker.entry, hopyard.run.context"], check=True
            ),
            "launch inline": lambda: launched(1, "inline"),
            "launch processes, 1 node": lambda: launched(1, "processes"),
            "launch spark, 1 node": lambda: launched(1, "spark"),
            "launch spark, 2 nodes": lambda: launched(2, "spark"),
        }
        for each in work.values():
            each()
        seconds = {name: median_seconds(each, TIMES) for name, each in work.items()}
    base = seconds["bare Spark job, 1 task"]
    rows = tuple((name, f"{value * 1000:.0f}", f"{value / base:.1f}") for name, value in seconds.items())
    return Table(
        title="Launch overhead",
        columns=("work", "ms (median)", "ratio to a bare Spark job"),
        rows=rows,
        notes=f"Median of {TIMES} after one warm-up, `local-cluster[2,1]`, project on local disk.",
    )
