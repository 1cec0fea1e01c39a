"""Columns that are kept beside results, whatever the sizes of batches and results."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hopyard.feed.task.kept_columns import KeptColumns

pytestmark = pytest.mark.unit


def rows(start: int, stop: int) -> pa.RecordBatch:
    numbers = range(start, stop)
    return pa.record_batch(
        {"x": [n / 2 for n in numbers], "id": [f"k{n}" for n in numbers], "n": list(numbers)}
    )


def results(start: int, stop: int) -> pa.RecordBatch:
    return pa.record_batch({"square": [n * n for n in range(start, stop)]})


@pytest.mark.parametrize("sizes", [[10], [1] * 10, [3, 3, 3, 1], [4, 0, 6], [7, 3]])
def test_each_result_gets_the_columns_of_its_row(sizes: list[int]) -> None:
    kept = KeptColumns([2, 1])
    batches = [rows(0, 4), rows(4, 4), rows(4, 9), rows(9, 10)]
    assert list(kept.watched(batches)) == batches
    found, start = [], 0
    for size in sizes:
        batch = kept.beside(results(start, start + size))
        assert batch.num_rows == size
        found += batch.to_pylist()
        start += size
    assert found == [{"n": n, "id": f"k{n}", "square": n * n} for n in range(10)]


def test_kept_columns_do_not_hold_the_memory_of_the_others() -> None:
    wide = pa.record_batch({"id": list(range(100)), "image": [bytes(10_000)] * 100})
    [batch] = pa.ipc.open_stream(_stream(wide))
    kept = KeptColumns([0])
    list(kept.watched([batch]))
    before = pa.total_allocated_bytes()
    del batch
    assert before - pa.total_allocated_bytes() > 900_000 or pa.total_allocated_bytes() < 100_000


def _stream(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()
