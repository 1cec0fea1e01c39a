from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hopyard.spark.raw_arrays import FrameForm, lists_of

pytestmark = pytest.mark.unit

FLOATS = pa.list_(pa.float32())


def raw(numbers: list[float], kind: str) -> bytes:
    """Returns the numbers of an array as Spark holds them."""
    return np.array(numbers, kind).tobytes()


def column(rows: list[bytes | None]) -> pa.BinaryArray:
    return pa.array(rows, pa.binary())


def nothing(rows: int, kind: pa.DataType = FLOATS) -> pa.ListArray:
    return pa.array([[]] * rows, kind)


@pytest.mark.parametrize(
    ("kind", "arrow"),
    [
        ("i1", pa.int8()),
        ("i2", pa.int16()),
        ("i4", pa.int32()),
        ("i8", pa.int64()),
        ("f4", pa.float32()),
        ("f8", pa.float64()),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 3, 63, 64, 65, 130])
def test_arrays_that_are_all_as_long_are_read(kind: str, arrow: pa.DataType, count: int) -> None:
    rows = [[float((place + row) % 100) for place in range(count)] for row in range(5)]
    lists = lists_of(column([raw(row, kind) for row in rows]), nothing(5, pa.list_(arrow)))
    assert lists.type == pa.list_(arrow)
    assert lists.to_pylist() == rows
    lists.validate(full=True)


def test_arrays_of_different_lengths_are_read() -> None:
    rows = [[1.5] * count for count in (3, 0, 200, 4, 64, 1)]
    lists = lists_of(column([raw(row, "f4") for row in rows]), nothing(len(rows)))
    assert lists.to_pylist() == rows
    lists.validate(full=True)


def test_numbers_stay_where_they_are() -> None:
    sent = column([raw([1, 2], "f4"), raw([3], "f4")])
    assert lists_of(sent, nothing(2)).values.buffers()[1].address == sent.buffers()[2].address


def test_arrays_without_numbers_are_read() -> None:
    assert lists_of(column([b"", b""]), nothing(2)).to_pylist() == [[], []]


def test_where_there_are_no_bytes_the_rest_counts() -> None:
    rest = pa.array([[], None, [7.0, None], []], FLOATS)
    lists = lists_of(column([raw([1, 2], "f4"), None, None, raw([3], "f4")]), rest)
    assert lists.to_pylist() == [[1, 2], None, [7, None], [3]]


def test_if_there_are_no_bytes_at_all_it_is_the_rest() -> None:
    rest = pa.array([[7.0], None], FLOATS)
    assert lists_of(column([None, None]), rest) is rest


def test_a_part_of_a_column_is_read() -> None:
    rows = [[float(number)] * 3 for number in range(10)]
    part = column([raw(row, "f4") for row in rows]).slice(4, 3)
    assert lists_of(part, nothing(3)).to_pylist() == rows[4:7]


@pytest.mark.parametrize("form", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()])
def test_bytes_may_come_as_any_kind_of_bytes(form: pa.DataType) -> None:
    rows = [[2.0, 2.0], [2.0]]  # their bytes happen to be a valid text
    assert lists_of(pa.array([raw(row, "f4") for row in rows], form), nothing(2)).to_pylist() == rows


def test_what_is_not_a_number_stays_so() -> None:
    lists = lists_of(
        column([raw([float("nan"), float("inf"), -0.0], "f8")]), nothing(1, pa.list_(pa.float64()))
    )
    assert str(lists.to_pylist()) == "[[nan, inf, -0.0]]"


def test_no_rows_are_no_lists() -> None:
    assert lists_of(column([]), nothing(0)).to_pylist() == []


def test_the_columns_of_a_frame_are_restored_with_their_names() -> None:
    form = FrameForm(names=("label", "image", "label"), raw=frozenset([1]))
    sent = pa.record_batch(
        [pa.array([1, 2]), column([raw([1], "f4"), raw([2], "f4")]), nothing(2), pa.array(["a", "b"])],
        names=["0/0", "1/0", "1/1", "2/0"],
    )
    (batch,) = form.restored([sent])
    assert batch.schema.names == ["label", "image", "label"]
    assert [each.to_pylist() for each in batch.columns] == [[1, 2], [[1], [2]], ["a", "b"]]


def test_a_frame_without_such_arrays_is_left_alone() -> None:
    batch = pa.record_batch({"x": [1]})
    assert next(FrameForm(names=("x",)).restored([batch])) is batch
