"""The first batch of a feed tells what all of them look like."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from hopyard.errors import BadArguments, InvalidVectors, NullValues, RowsDiffer, UnknownColumns
from hopyard.frameworks.batch_form import ColumnForm, Ragged, forms
from hopyard.frameworks.selection import Selection

pytestmark = pytest.mark.unit

VECTOR = pa.struct(
    [
        ("type", pa.int8()),
        ("size", pa.int32()),
        ("indices", pa.list_(pa.int32())),
        ("values", pa.list_(pa.float64())),
    ]
)


def batch(values: list[object], kind: pa.DataType) -> pa.RecordBatch:
    """Returns a batch of one column, which is called `x`."""
    return pa.record_batch({"x": pa.array(values, kind)})


def form(sample: pa.RecordBatch, **wanted: object) -> ColumnForm:
    return forms(sample, Selection(**wanted), "call")[0]


@pytest.mark.parametrize(
    ("values", "kind", "dtype", "shape"),
    [
        ([1, 2], pa.int32(), "int32", ()),
        ([True], pa.bool_(), "bool", ()),
        ([[1, 2], [3, 4]], pa.list_(pa.float32()), "float32", (2,)),
        ([[1], [3, 4]], pa.list_(pa.float32()), "float32", (None,)),
        ([[[1, 2]], [[3, 4], [5, 6]]], pa.list_(pa.list_(pa.int8())), "int8", (None, 2)),
        (["a"], pa.string(), "object", ()),
        ([["a"], ["b"]], pa.list_(pa.string()), "object", (None,)),
        ([datetime.date(1970, 1, 3)], pa.date32(), "int64", ()),
        ([{"type": 1, "values": [1, 2, 3]}], VECTOR, "float64", (3,)),
    ],
)
def test_form_of_a_column(values, kind, dtype, shape):
    found = form(batch(values, kind))
    assert (found.dtype, found.shape) == (np.dtype(dtype), shape)


def test_columns_come_in_the_order_in_which_they_are_wanted():
    sample = pa.record_batch({"a": [1], "b": [2], "c": [3]})
    assert [each.name for each in forms(sample, Selection(columns=["c", "a", "c"]), "call")] == ["c", "a"]


@pytest.mark.parametrize(
    "wanted", [{"columns": ["y"]}, {"dtypes": {"y": "int8"}}, {"fill_nulls": {"y": 0}}, {"ragged": ["y"]}]
)
def test_a_wish_for_a_column_that_is_not_there_is_an_error(wanted):
    with pytest.raises(UnknownColumns, match="no column y"):
        form(batch([1], pa.int32()), **wanted)


def test_dense_numbers_are_a_view_of_the_batch():
    sample = batch([[1, 2], [3, 4]], pa.list_(pa.float32()))
    array = form(sample).array(sample.slice(1))
    assert array.tolist() == [[3, 4]]
    assert np.shares_memory(array, sample.column(0).values.to_numpy())


def test_numbers_are_cast():
    sample = batch([{"type": 1, "values": [1.5, 2]}], VECTOR)
    array = form(sample, dtypes={"x": "float32"}).array(sample)
    assert (array.dtype, array.tolist()) == (np.float32, [[1.5, 2]])


def test_timestamps_count_microseconds():
    kind = pa.timestamp("us", "UTC")
    sample = batch([datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.UTC)], kind)
    assert form(sample).array(sample).tolist() == [1_000_000]


@pytest.mark.parametrize(
    ("dtype", "reason"),
    [("flaot32", "flaot32"), ("str", "not a type of numbers"), ("M8[us]", "not a type of numbers")],
)
def test_a_type_to_cast_to_must_be_one_of_numbers(dtype, reason):
    with pytest.raises(BadArguments, match=reason):
        form(batch([1], pa.int32()), dtypes={"x": dtype})


def test_text_is_not_cast():
    with pytest.raises(BadArguments, match="not a column of numbers"):
        form(batch(["1"], pa.string()), dtypes={"x": "int32"})


# --- rows that vary in length


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int32())])
def test_ragged_rows_are_values_and_splits(kind):
    sample = batch([[9], [1, 2], [], [3, 4, 5]], kind)
    ragged = form(sample).array(sample.slice(1))
    assert isinstance(ragged, Ragged)
    assert ragged.values.tolist() == [1, 2, 3, 4, 5]
    assert [splits.tolist() for splits in ragged.splits] == [[0, 2, 2, 5]]


def test_ragged_rows_stay_so_where_all_of_a_batch_have_the_same_length():
    found = form(batch([[1], [2, 3]], pa.list_(pa.int32())))
    ragged = found.array(batch([[4, 5], [6, 7]], pa.list_(pa.int32())))
    assert [splits.tolist() for splits in ragged.splits] == [[0, 2, 4]]


def test_what_is_within_ragged_rows_keeps_its_shape():
    sample = batch([[[1, 2]], [], [[3, 4], [5, 6]]], pa.list_(pa.list_(pa.int32(), 2)))
    ragged = form(sample).array(sample)
    assert ragged.values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert [splits.tolist() for splits in ragged.splits] == [[0, 1, 1, 3]]


def test_two_levels_of_ragged_rows_have_splits_each():
    sample = batch([[[1], [2, 3]], [[4]]], pa.list_(pa.list_(pa.int32())))
    ragged = form(sample).array(sample)
    assert ragged.values.tolist() == [1, 2, 3, 4]
    assert [splits.tolist() for splits in ragged.splits] == [[0, 2, 3], [0, 1, 3, 4]]


def test_ragged_rows_without_any_value_keep_type_and_shape():
    kind = pa.list_(pa.list_(pa.float32(), 2))
    found = form(batch([[[1, 2]], [[3, 4], [5, 6]]], kind))
    ragged = found.array(batch([[], []], kind))
    assert (ragged.values.shape, ragged.values.dtype) == ((0, 2), np.float32)


def test_rows_of_one_length_can_be_said_to_vary():
    sample = batch([[1, 2], [3, 4]], pa.list_(pa.int32()))
    assert form(sample, ragged=["x"]).shape == (None,)


def test_only_lists_can_be_said_to_vary():
    with pytest.raises(BadArguments, match="not a column of lists"):
        form(batch([1], pa.int32()), ragged=["x"])


@pytest.mark.parametrize("later", [[[1, 2, 3]], [[1], [2, 3]]])
def test_rows_of_another_length_than_the_first_ones_are_an_error_that_tells_what_to_do(later):
    kind = pa.list_(pa.int32())
    found = form(batch([[1, 2], [3, 4]], kind))
    with pytest.raises(RowsDiffer, match=r"began with rows of shape \(2,\).*ragged=\['x'\]"):
        found.array(batch(later, kind))


def test_a_column_that_changes_its_type_is_an_error():
    found = form(batch([1], pa.int32()))
    with pytest.raises(RowsDiffer, match="began with int32, but later rows have double"):
        found.array(batch([1.5], pa.float64()))


def test_vectors_that_vary_in_length_are_an_error():
    with pytest.raises(InvalidVectors):
        form(batch([{"type": 1, "values": [1]}, {"type": 1, "values": [1, 2]}], VECTOR))


# --- nulls


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None], pa.int32()),
        ([[1], [2, None]], pa.list_(pa.float32())),
        ([[1], None, [2, 3]], pa.list_(pa.float32())),
        (["a", None], pa.string()),
        ([["a"], [None]], pa.list_(pa.string())),
    ],
)
def test_a_null_that_nothing_stands_for_is_an_error(values, kind):
    sample = batch(values, kind)
    with pytest.raises(NullValues, match="1 null"):
        form(sample).array(sample)


def test_nulls_are_filled():
    text, lists = batch(["a", None], pa.string()), batch([[1], [2, None]], pa.list_(pa.float32()))
    assert form(text, fill_nulls={"x": "?"}).array(text).tolist() == ["a", "?"]
    assert form(lists, fill_nulls={"x": -1}).array(lists).values.tolist() == [1, 2, -1]


def test_missing_vectors_in_the_first_batch_have_the_length_of_what_stands_for_them():
    sample = batch([None], VECTOR)
    found = form(sample, fill_nulls={"x": [0.0, 1.0]})
    assert found.shape == (2,)
    assert found.array(sample).tolist() == [[0, 1]]
