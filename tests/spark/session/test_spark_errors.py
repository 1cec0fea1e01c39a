"""Errors of Spark that are printed when the JVM that knows their texts has ended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
import json
from pyspark.sql.functions import udf
import hopyard

def broken(number):
    raise ValueError(f"number {number} is odd")

def answer(ctx):
    feed = ctx.feed()
    while len(batch := feed.next_batch(8)):
        raise ValueError("the model is odd")

def with_udf(spark):
    spark.range(1, 2).select(udf(broken)("id")).collect()

def with_rdd(spark):
    spark.sparkContext.parallelize([2], 1).map(broken).collect()

def with_analysis(spark):
    spark.range(2).select("no_such_column")

def with_java(spark):
    spark.sparkContext._jvm.java.lang.Class.forName("no.such.Class")

def with_train(spark):
    with hopyard.Cluster(answer, feed=True, progress=False) as cluster:
        cluster.train(spark.range(3, 4).select(udf(broken)("id")))

def with_inference(spark):
    with hopyard.Cluster(answer, feed=True, progress=False) as cluster:
        cluster.inference(spark.range(4), schema="y long").collect()

KINDS = [with_udf, with_rdd, with_analysis, with_java, with_train, with_inference]
try:
    with hopyard.local_spark(executors=1, memory="512m") as spark:
        errors = []
        for kind in KINDS:
            try:
                kind(spark)
            except Exception as error:
                errors.append(error)
        raise ExceptionGroup("all kinds", errors)
except ExceptionGroup as group:
    told = {kind.__name__: [type(error).__name__, str(error)] for kind, error in zip(KINDS, group.exceptions)}
    print(json.dumps(told | {"condition": group.exceptions[2].getCondition()}))
    raise
"""


@pytest.mark.timeout(240)  # a start, and five jobs with processes of their own
def test_errors_that_cross_the_session_keep_their_texts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    kinds = {name: told[name][0] for name in told if name.startswith("with")}
    assert kinds == {
        "with_udf": "PythonException",
        "with_rdd": "PythonException",
        "with_analysis": "AnalysisException",
        "with_java": "Py4JJavaError",
        "with_train": "FeedJobFailed",
        # of the task that asked the node, or of the job that was cancelled when the node failed
        "with_inference": kinds["with_inference"],
    }
    expected = {
        "with_udf": "ValueError: number 1 is odd",
        "with_rdd": "ValueError: number 2 is odd",
        "with_analysis": "`no_such_column` cannot be resolved",
        "with_java": "java.lang.ClassNotFoundException: no.such.Class",
        "with_train": "ValueError: number 3 is odd",
        "with_inference": "ValueError: the model is odd",
    }
    assert {name: text for name, text in expected.items() if text not in told[name][1]} == {}
    assert told["condition"] == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert [text for text in expected.values() if text not in done.stderr] == []
    assert "pyspark.errors.exceptions.captured.AnalysisException: [UNRESOLVED_COLUMN" in done.stderr
    assert "str() failed" not in done.stderr
