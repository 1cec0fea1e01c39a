"""Spark ML vectors become the rows of a matrix."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.columns.arrays import specs, to_numpy
from hopyard.errors import FillDoesNotFit, InvalidVectors, NullValues

pytestmark = pytest.mark.unit


def vector_type(make_list=pa.list_) -> pa.DataType:
    """Returns the struct as which Spark's `VectorUDT` arrives."""
    return pa.struct(
        [
            pa.field("type", pa.int8(), nullable=False),
            ("size", pa.int32()),
            ("indices", make_list(pa.field("element", pa.int32(), nullable=False))),
            ("values", make_list(pa.field("element", pa.float64(), nullable=False))),
        ]
    )


VECTOR = vector_type()


def dense(*values: float) -> dict[str, object]:
    return {"type": 1, "size": None, "indices": None, "values": list(values)}


def sparse(size: int, numbers: dict[int, float]) -> dict[str, object]:
    return {"type": 0, "size": size, "indices": list(numbers), "values": list(numbers.values())}


def batch_of(*rows: object, kind: pa.DataType = VECTOR) -> pa.RecordBatch:
    return pa.record_batch({"v": pa.array(rows, kind)})


def test_dense_vectors_are_a_view_of_their_numbers():
    batch = batch_of(dense(0, 0), dense(1, 2), dense(3, 4), dense(5, 6))
    array = to_numpy(batch.slice(1, 2))["v"]
    numbers = batch.column("v").field("values").values
    assert array.tolist() == [[1, 2], [3, 4]]
    assert np.shares_memory(array, numbers.to_numpy())


@pytest.mark.parametrize("make_list", [pa.list_, pa.large_list])
def test_sparse_and_dense_vectors_mix(make_list):
    rows = [sparse(3, {1: 5.0}), dense(1, 2, 3), sparse(3, {}), sparse(3, {2: 7.0, 0: 6.0})]
    array = to_numpy(batch_of(*rows, kind=vector_type(make_list)))["v"]
    assert array.dtype == np.float64
    assert array.tolist() == [[0, 5, 0], [1, 2, 3], [0, 0, 0], [6, 0, 7]]


ROWS = st.one_of(
    st.lists(st.floats(-9, 9), min_size=4, max_size=4).map(lambda row: (row, dense(*row))),
    st.dictionaries(st.integers(0, 3), st.floats(-9, 9)).map(
        lambda some: ([some.get(place, 0.0) for place in range(4)], sparse(4, some))
    ),
    st.just(([1.0, 2.0, 3.0, 4.0], None)),
)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(ROWS, max_size=8), data=st.data())
def test_any_slice_of_any_vectors_has_their_numbers(rows, data):
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 2)))
    batch = batch_of(*(row for _, row in rows)).slice(start, stop - start)
    array = to_numpy(batch, fill_nulls={"v": [1, 2, 3, 4]})["v"]
    assert array.tolist() == [numbers for numbers, _ in rows[start:stop]]


@pytest.mark.parametrize("other", [dense(1, 2, 3), sparse(5, {})], ids=["dense", "sparse"])
def test_vectors_of_different_lengths_are_refused(other):
    with pytest.raises(InvalidVectors, match=r"'v'.*from 2 to [35] numbers"):
        to_numpy(batch_of(dense(1, 2), other))


@pytest.mark.parametrize(
    "broken",
    [
        sparse(2, {2: 1.0}),
        sparse(2, {-1: 1.0}),
        {"type": 0, "size": 2, "indices": [0], "values": [1.0, 2.0]},
    ],
    ids=["beyond", "negative", "too few"],
)
def test_indices_that_do_not_fit_are_refused(broken):
    with pytest.raises(InvalidVectors, match="ind"):
        to_numpy(batch_of(dense(1, 2), broken))


def test_a_missing_vector_is_an_error():
    with pytest.raises(NullValues, match=r"fill_nulls=\{'v': \[0, \.\.\.\]\}") as raised:
        to_numpy(batch_of(dense(1, 2), None, None))
    assert raised.value.count == 2


def test_a_list_stands_for_missing_vectors():
    batch = batch_of(None, dense(1, 2), sparse(2, {1: 4.0}), None)
    assert to_numpy(batch, fill_nulls={"v": [8, 9]})["v"].tolist() == [[8, 9], [1, 2], [0, 4], [8, 9]]


def test_a_column_of_missing_vectors_is_as_wide_as_its_fill():
    assert to_numpy(batch_of(None, None), fill_nulls={"v": [8, 9]})["v"].tolist() == [[8, 9], [8, 9]]


def test_a_fill_of_another_length_is_refused():
    with pytest.raises(InvalidVectors, match=r"2 numbers.* 3"):
        to_numpy(batch_of(None, dense(1, 2)), fill_nulls={"v": [0, 0, 0]})


def test_a_fill_that_is_no_list_of_numbers_is_refused():
    with pytest.raises(FillDoesNotFit):
        to_numpy(batch_of(dense(1, 2)), fill_nulls={"v": ["a"]})


def test_a_batch_without_vectors_has_their_type():
    array = to_numpy(batch_of())["v"]
    assert (array.dtype, array.shape) == (np.float64, (0,))


def test_a_sample_tells_the_length_of_vectors():
    batch = batch_of(None, sparse(3, {}), dense(1, 2, 3))
    (known,) = specs(batch.schema, batch)
    (unknown,) = specs(batch.schema)
    assert (known.dtype, known.shape, unknown.shape) == (np.float64, (3,), (None,))


def test_a_struct_with_other_fields_is_no_vector():
    kind = pa.struct([("type", pa.int8()), ("size", pa.int32())])
    rows = [{"type": 1, "size": 2}]
    assert to_numpy(batch_of(*rows, kind=kind))["v"].tolist() == rows
