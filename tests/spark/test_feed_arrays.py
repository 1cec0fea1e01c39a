"""Arrays of a DataFrame on their way through Spark, as the bytes that it holds them in."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from hopyard.spark.arrays import BATCH_BYTES, in_small_batches, with_raw_arrays
from hopyard.spark.raw_arrays import FrameForm

pytestmark = pytest.mark.spark

ARRAYS = {
    "floats": "array(cast(id as float), null, 1.0f)",
    "longs": "if(id % 7 = 1, null, array(id))",
    "ragged": "sequence(0, cast(id as int))",
    "bytes_": "transform(sequence(0, cast(id as int)), each -> if(each % 5 = 0, null, cast(each % 100 as tinyint)))",
    "mixed": "if(id % 5 = 0, sequence(0, 3), transform(array(1, 2), each -> each + 1))",
    "empty": "cast(array() as array<double>)",
}
OTHERS = {
    "id": "id",
    "word": "concat('w', id)",
    "nested": "array(array(1.0), array())",
    "words": "array('a', null)",
}


def restore(form: FrameForm, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return form.restored(batches)


def through_python(frame: DataFrame) -> list[object]:
    """Returns the rows of a DataFrame after they went to Spark's Python and back."""
    sent, form = with_raw_arrays(frame)
    assert form.raw
    return list(sent.mapInArrow(functools.partial(restore, form), frame.schema).collect())


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> DataFrame:
    return spark.range(150).selectExpr(
        *(f"{words} as {name}" for name, words in {**OTHERS, **ARRAYS}.items())
    )


def test_arrays_that_functions_make_come_through(made: DataFrame) -> None:
    assert through_python(made) == made.collect()


def test_arrays_of_files_and_of_the_cache_come_through(made: DataFrame, tmp_path: Path) -> None:
    made.write.parquet(str(tmp_path / "rows"))
    files = made.sparkSession.read.parquet(str(tmp_path / "rows"))
    assert through_python(files) == files.collect()
    cached = files.cache()
    try:
        assert through_python(cached) == files.collect()
    finally:
        cached.unpersist(blocking=True)


def test_arrays_that_are_lists_of_objects_come_through(spark: SparkSession) -> None:
    rows = [([1.0, None], 3, [1]), (None, 4, []), ([], 5, None)]
    frame = spark.createDataFrame(rows, "x array<double>, i int, l array<smallint>")
    assert [tuple(row) for row in through_python(frame)] == rows


def test_arrays_travel_as_bytes(spark: SparkSession) -> None:
    sent, _ = with_raw_arrays(spark.range(1).selectExpr("array(cast(id as float), 2.0f) as x", "id"))
    (row,) = sent.collect()
    assert [kind for _, kind in sent.dtypes] == ["string", "array<float>", "bigint"]
    assert (len(row[0]), row[1]) == (8, [])


def test_arrays_with_nulls_travel_the_usual_way(spark: SparkSession) -> None:
    numbers = [*range(70), None, *range(100)]
    sent, _ = with_raw_arrays(spark.createDataFrame([(numbers,)], "x array<int>"))
    (row,) = sent.collect()
    assert (row[0], row[1]) == (None, numbers)


def test_columns_of_the_same_name_are_told_apart(spark: SparkSession) -> None:
    frame = spark.range(2).selectExpr("array(id) as x", "array(-id) as x")
    sent, form = with_raw_arrays(frame)
    kinds = "x array<bigint>, y array<bigint>"
    renamed = FrameForm(names=("x", "y"), raw=form.raw)
    rows = sent.mapInArrow(functools.partial(restore, renamed), kinds).collect()
    assert [tuple(row) for row in rows] == [([0], [0]), ([1], [-1])]


def test_a_frame_without_arrays_of_numbers_is_left_alone(spark: SparkSession) -> None:
    frame = spark.range(3)
    assert with_raw_arrays(frame)[0] is frame


def count_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"rows": [batch.num_rows]})


def test_small_batches_are_a_matter_of_one_frame_alone(spark: SparkSession) -> None:
    before = spark.conf.get(BATCH_BYTES)
    frame = spark.range(0, 1000, 1, 1).selectExpr("id", "repeat('x', 1000) as text")
    small = in_small_batches(frame, 100_000).mapInArrow(count_rows, "rows long").collect()
    assert sum(row.rows for row in small) == 1000
    assert len(small) >= 10
    assert spark.conf.get(BATCH_BYTES) == before
    assert len(frame.mapInArrow(count_rows, "rows long").collect()) == 1
