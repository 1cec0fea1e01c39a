"""Spark ML vectors reach a Python worker in the form that the feed converts."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

from hopyard.columns.arrays import to_numpy

pytestmark = pytest.mark.spark


def rows_of_matrices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Converts vectors where a feeder would, and sends back what came out."""
    for batch in batches:
        arrays = to_numpy(batch, fill_nulls={"vector": [7, 8, 9]})
        rows = {"id": arrays["id"], "dtype": [str(arrays["vector"].dtype)] * batch.num_rows}
        yield pa.record_batch({**rows, "row": pa.array(arrays["vector"].tolist(), pa.list_(pa.float64()))})


def test_vectors_of_a_data_frame_arrive_as_a_matrix(spark: SparkSession) -> None:
    vectors = [Vectors.dense([1, 2, 3]), Vectors.sparse(3, {1: 5.0}), None, Vectors.sparse(3, {})]
    frame = spark.createDataFrame(list(enumerate(vectors)), ["id", "vector"])
    rows = frame.mapInArrow(rows_of_matrices, "id long, dtype string, row array<double>").collect()
    assert {row.id: row.row for row in rows} == {0: [1, 2, 3], 1: [0, 5, 0], 2: [7, 8, 9], 3: [0, 0, 0]}
    assert {row.dtype for row in rows} == {"float64"}
