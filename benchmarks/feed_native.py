"""Feeds a cluster from a DataFrame, and tells how many rows per second got how far.

For each line on its standard input (``{"what": "train", "source": "memory", "rows": 300000}``) it moves the rows
of a DataFrame once, to where `what` says, and answers with a line of JSON:

* ``scan``: Spark computes all rows; they stay in its JVM.
* ``usual``: they get to Spark's Python workers, which count them, as Spark has it.
* ``worker``: the same as the feed has it: with arrays as bytes, in small batches.
* ``train``: they get to two nodes, which throw them away.
* ``numpy``: they get to two nodes, which take them as numpy arrays.
* ``inference``: two nodes return one number for each, which Spark counts.

Where there are nodes, the microseconds per row that processors spent on each kind of process are in the answer, too.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow
from benchmarks.feed_answers import answer
from benchmarks.feed_data import FILES, parquet_folder
from benchmarks.feed_frame import in_memory
from benchmarks.feed_functions import FUNCTIONS
from benchmarks.feed_processes import KINDS, spent
from benchmarks.feed_rate import SPARK, read, steady
from pyspark.sql import DataFrame, SparkSession

import hopyard
from hopyard.feed.pieces import PIECE_BYTES
from hopyard.spark.arrays import in_small_batches, with_raw_arrays

NODES = 2
MEMORY = "3g"  # of an executor, for half of the rows and the work on them


def count(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yields the number of rows."""
    yield pyarrow.record_batch({"rows": [sum(batch.num_rows for batch in batches)]})


def frame(session: SparkSession, source: str, rows: int) -> DataFrame:
    """Returns the rows, in the memory of the executors or in files; they are brought there by the first call."""
    files = session.read.parquet(str(parquet_folder(rows)))
    if source == "parquet":
        return files
    return in_memory(files, FILES, NODES)


def measure(session: SparkSession, *, what: str, source: str, rows: int) -> dict[str, float]:
    """Returns rows per second, over the whole call and from the first to the last that a node saw."""
    data = frame(session, source, rows)
    if what in FUNCTIONS:
        return _fed(data, what, rows)
    called = time.monotonic()
    if what == "scan":
        data.write.format("noop").mode("overwrite").save()
    else:
        if what == "worker":
            data, _ = with_raw_arrays(in_small_batches(data, PIECE_BYTES))
        _check(sum(row.rows for row in data.mapInArrow(count, "rows long").collect()), rows)
    rate = rows / (time.monotonic() - called)
    return {"steady": rate, "whole": rate}


def _fed(data: DataFrame, what: str, rows: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        with hopyard.Cluster(FUNCTIONS[what], (folder,), NODES, feed=True, progress=False) as cluster:
            cluster.ready()
            before = spent(tempfile.gettempdir())
            called = time.monotonic()
            if what == "inference":
                _check(cluster.inference(data, schema="prediction float").count(), rows)
            else:
                cluster.train(data, epochs=1)
            returned = time.monotonic()
            after = spent(tempfile.gettempdir())
            cluster.shutdown()
        arrivals = read(Path(folder))
    _check(sum(each.rows for each in arrivals), rows)
    processors = {kind: (after[kind] - before[kind]) / rows * 1e6 for kind in KINDS}
    return {"steady": steady(arrivals), "whole": rows / (returned - called), **processors}


def _check(counted: int, rows: int) -> None:
    if counted != rows:
        sys.exit(f"{counted} of {rows} rows arrived")


if __name__ == "__main__":
    with hopyard.local_spark(executors=NODES, memory=MEMORY, conf=SPARK) as spark:
        answer(lambda question: measure(spark, **question))
