"""Starts and ends clusters through the TensorFlowOnSpark interface, and tells what each took.

One source for both sides: run by a Python that has TensorFlowOnSpark it measures that, run by ours it
measures Hopyard. For each line on its standard input (``{"seconds": 2, "imports": ""}``) it runs one cluster of
two nodes whose function imports that module and takes that many seconds, and answers with a line of JSON.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

NODES = 2
EXECUTORS_SECONDS = 120


def train(args: argparse.Namespace, ctx: Any) -> None:
    """The training function: leaves behind when it began and ended, by the clock of the machine."""
    began = time.monotonic()
    if args.imports:
        importlib.import_module(args.imports)
    time.sleep(args.seconds)
    path = os.path.join(args.folder, f"{ctx.job_name}-{ctx.task_index}")
    with open(path, "w") as file:
        json.dump([began, time.monotonic()], file)


def measure(context: SparkContext, *, seconds: float, imports: str) -> dict[str, float]:
    """Returns what one cluster took, in seconds."""
    from tensorflowonspark import TFCluster

    with tempfile.TemporaryDirectory() as folder:
        called = time.monotonic()
        args = argparse.Namespace(seconds=seconds, imports=imports, folder=folder)
        cluster = TFCluster.run(context, train, args, NODES, 0, master_node="chief")
        running = time.monotonic()
        cluster.shutdown()
        down = time.monotonic()
        times = [json.loads(path.read_text()) for path in Path(folder).iterdir()]
    if len(times) != NODES:
        sys.exit(f"{len(times)} of {NODES} nodes ran the function")
    return {
        "run": running - called,
        "function": max(began for began, _ in times) - called,
        "shutdown": down - max(ended for _, ended in times),
        "all": down - called - seconds,
    }


def start_spark(folder: Path, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Returns a session with one executor for each node, all of them up."""
    # workers write to $SPARK_HOME/work; links keep that out of the installed package
    home = folder / "home"
    home.mkdir()
    for part in ("bin", "jars", "python"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    os.environ.update(SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.master(f"local-cluster[{NODES},1,1024]")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    for name, value in (conf or {}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    deadline = time.monotonic() + EXECUTORS_SECONDS
    status = session.sparkContext._jsc.sc()  # noqa: SLF001 (pyspark's door to the JVM)
    while status.getExecutorMemoryStatus().size() < NODES + 1:  # the driver counts itself
        if time.monotonic() > deadline:
            sys.exit(f"Spark's executors were not there within {EXECUTORS_SECONDS} s")
        time.sleep(0.1)
    return session


def main(folder: Path) -> None:
    # whatever else writes to the standard output, such as the JVM, is sent to the log
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    with start_spark(folder) as session:
        for line in sys.stdin:
            print(json.dumps(measure(session.sparkContext, **json.loads(line))), file=answers)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
