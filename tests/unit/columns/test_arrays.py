"""Record batches become numpy arrays."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.columns.arrays import ColumnSpec, specs, to_numpy
from hopyard.errors import DuplicateColumns, FillDoesNotFit, NullValues, UnknownColumns

pytestmark = pytest.mark.unit

FLOATS = pa.list_(pa.float32())
NUMBERS = [
    (pa.int8(), "int8"),
    (pa.uint16(), "uint16"),
    (pa.int32(), "int32"),
    (pa.int64(), "int64"),
    (pa.float16(), "float16"),
    (pa.float32(), "float32"),
    (pa.float64(), "float64"),
]
LISTS = [pa.list_(pa.int32()), pa.large_list(pa.int32()), pa.list_(pa.int32(), 3)]
PIECE_TYPES = [
    *(kind for kind, _ in NUMBERS),
    *LISTS,
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.duration("us"),
    pa.decimal128(10, 2),
    pa.list_(pa.list_(pa.float32())),
    pa.list_(pa.list_(pa.float32(), 2), 3),
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.list_(pa.string()),
    pa.struct([("a", pa.int32())]),
    pa.map_(pa.string(), pa.int32()),
    pa.null(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int32(), pa.float32()),
]


def converted(values, kind: pa.DataType, **options: object) -> np.ndarray:
    """Returns the array of a batch of one column, which is called `x`."""
    column = values if isinstance(values, pa.Array) else pa.array(values, kind)
    return to_numpy(pa.record_batch({"x": column}), **options)["x"]


def shares_memory(array: np.ndarray, values: pa.Array) -> bool:
    """Tells whether an array shows the memory of a flat column without nulls."""
    return np.shares_memory(array, np.frombuffer(values.buffers()[1], dtype=np.uint8))


def as_lists(array: object) -> object:
    """Returns arrays within arrays as lists within lists."""
    return [as_lists(each) for each in array] if isinstance(array, np.ndarray) and array.ndim else array


# --- plain columns


@pytest.mark.parametrize(("kind", "dtype"), NUMBERS, ids=str)
def test_numbers_are_a_view_of_the_batch(kind, dtype):
    column = pa.array([1, 2, 3, 4], kind)
    array = converted(column.slice(1, 2), kind)
    assert array.dtype == dtype
    assert array.tolist() == [2, 3]
    assert shares_memory(array, column)


def test_numbers_of_a_table_in_one_chunk_are_a_view():
    column = pa.array([1, 2, 3])
    array = to_numpy(pa.table({"x": column}))["x"]
    assert shares_memory(array, column)


def test_booleans_are_booleans():
    array = converted([True, False, True], pa.bool_())
    assert array.dtype == bool
    assert array.tolist() == [True, False, True]


def test_dates_are_days():
    array = converted([datetime.date(2024, 2, 29)], pa.date32())
    assert array.tolist() == [datetime.date(2024, 2, 29)]
    assert array.dtype == "datetime64[D]"


def test_timestamps_are_instants_in_utc():
    noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    array = converted([noon], pa.timestamp("us", "Europe/Berlin"))
    assert array.dtype == "datetime64[us]"
    assert array[0] == np.datetime64("2024-01-01T10:00")


def test_decimals_are_floats():
    array = converted([Decimal("1.25"), Decimal("-3.50")], pa.decimal128(10, 2))
    assert array.dtype == np.float64
    assert array.tolist() == [1.25, -3.5]


def test_encoded_numbers_are_decoded():
    array = converted(pa.array([7, 8, 7], pa.int16()).dictionary_encode(), None)
    assert array.dtype == np.int16
    assert array.tolist() == [7, 8, 7]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_strings_are_objects_and_nulls_none(kind):
    array = converted(["a", None, "a"], kind)
    assert array.dtype == object
    assert array.tolist() == ["a", None, "a"]


def test_binaries_are_bytes():
    assert converted([b"a\0b", None], pa.binary()).tolist() == [b"a\0b", None]


def test_structs_are_dicts():
    kind = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.int32()))])
    rows = [{"a": 1, "b": [2, 3]}, None]
    assert converted(rows, kind).tolist() == rows


def test_maps_are_dicts():
    array = converted([{"a": 1}, None, {}], pa.map_(pa.string(), pa.int32()))
    assert array.tolist() == [{"a": 1}, None, {}]


def test_lists_of_strings_of_the_same_length_stay_one_object_per_row():
    array = converted([["a", "b"], ["c", "d"]], pa.list_(pa.string()))
    assert array.shape == (2,)
    assert array.tolist() == [["a", "b"], ["c", "d"]]


# --- lists


@pytest.mark.parametrize("kind", LISTS, ids=str)
def test_lists_of_one_length_are_a_view_with_two_axes(kind):
    column = pa.array([[i, i + 1, i + 2] for i in range(10)], kind)
    array = converted(column.slice(3, 5), kind)
    assert array.dtype == np.int32
    assert array.tolist() == [[i, i + 1, i + 2] for i in range(3, 8)]
    assert shares_memory(array, column.values)


def test_lists_of_several_lengths_are_a_view_each():
    column = pa.array([[9], [1, 2], [], [3]], FLOATS)
    array = converted(column.slice(1), FLOATS)
    assert array.dtype == object
    assert [row.tolist() for row in array] == [[1, 2], [], [3]]
    assert all(row.dtype == np.float32 for row in array)
    assert shares_memory(array[0], column.values)


def test_a_slice_of_one_length_is_regular_although_the_rest_is_not():
    column = pa.array([[1], [2, 3], [4, 5], [6, 7, 8]], FLOATS)
    assert converted(column.slice(1, 2), FLOATS).tolist() == [[2, 3], [4, 5]]


def test_nested_lists_of_one_shape_are_a_view_with_an_axis_for_each_level():
    kind = pa.list_(pa.list_(pa.list_(pa.int16(), 2)))
    cube = np.arange(5 * 3 * 4 * 2, dtype=np.int16).reshape(5, 3, 4, 2)
    column = pa.array(cube.tolist(), kind)
    array = converted(column.slice(2, 2), kind)
    assert array.shape == (2, 3, 4, 2)
    assert (array == cube[2:4]).all()
    assert shares_memory(array, column.values.values.values)


def test_rows_that_differ_in_shape_are_an_array_each():
    images = [np.arange(6).reshape(2, 3), np.arange(20).reshape(4, 5)]
    array = converted([image.tolist() for image in images], pa.list_(pa.list_(pa.int64())))
    assert [row.shape for row in array] == [(2, 3), (4, 5)]
    assert all((row == image).all() for row, image in zip(array, images, strict=True))


def test_a_row_that_is_ragged_within_is_an_array_of_arrays():
    array = converted([[[1, 2], [3]], [[4, 5], [6, 7]]], pa.list_(pa.list_(pa.int64())))
    assert as_lists(array) == [[[1, 2], [3]], [[4, 5], [6, 7]]]
    assert array[0].dtype == object
    assert array[1].shape == (2, 2)


def test_an_empty_row_keeps_the_number_of_axes():
    array = converted([[], [[1, 2]]], pa.list_(pa.list_(pa.int64())))
    assert [row.ndim for row in array] == [2, 2]


def test_lists_without_values_have_a_length_of_zero():
    assert converted([[], []], FLOATS).shape == (2, 0)


NESTED = {
    pa.list_(pa.int32()): st.lists(st.integers(-9, 9), max_size=3),
    pa.large_list(pa.list_(pa.int32())): st.lists(st.lists(st.integers(-9, 9), max_size=2), max_size=2),
    pa.list_(pa.list_(pa.int32(), 2)): st.lists(
        st.lists(st.integers(-9, 9), min_size=2, max_size=2), max_size=3
    ),
    pa.list_(pa.list_(pa.int32()), 1): st.lists(
        st.lists(st.integers(-9, 9), max_size=2), min_size=1, max_size=1
    ),
}


@pytest.mark.parametrize("kind", NESTED, ids=str)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_slice_of_any_lists_has_their_values(kind, data):
    rows = data.draw(st.lists(NESTED[kind], max_size=8))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 2)))
    batch = pa.record_batch({"x": pa.array(rows, kind)}).slice(start, stop - start)
    assert as_lists(to_numpy(batch)["x"]) == rows[start:stop]


@settings(max_examples=25, deadline=None)
@given(chunks=st.lists(st.lists(NESTED[pa.list_(pa.int32())], max_size=4), max_size=4))
def test_chunks_of_a_table_are_one_array(chunks):
    kind = pa.list_(pa.int32())
    table = pa.table({"x": pa.chunked_array([pa.array(rows, kind) for rows in chunks], kind)})
    assert as_lists(to_numpy(table)["x"]) == [row for rows in chunks for row in rows]


def test_chunks_with_different_dictionaries_are_one_array():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None]).dictionary_encode()]
    assert to_numpy(pa.table({"x": pa.chunked_array(chunks)}))["x"].tolist() == ["a", "b", "c", None]


# --- nulls


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_a_null_among_floats_is_nan(kind):
    array = converted([1, None], kind)
    assert array.dtype == kind.to_pandas_dtype()
    assert np.isnan(array).tolist() == [False, True]


@pytest.mark.parametrize(
    "kind",
    [pa.int32(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.duration("us"), pa.decimal128(5, 2)],
    ids=str,
)
def test_a_null_in_any_other_column_of_numbers_is_an_error(kind):
    with pytest.raises(NullValues) as raised:
        converted(pa.nulls(3, kind), kind)
    assert (raised.value.column, raised.value.count) == ("x", 3)


def test_nulls_outside_of_a_slice_do_not_count():
    assert converted(pa.array([None, 1, 2, None]).slice(1, 2), None).tolist() == [1, 2]
    with pytest.raises(NullValues) as raised:
        converted(pa.array([None, 1, None, None]).slice(1, 2), None)
    assert raised.value.count == 1


def test_the_error_of_nulls_says_what_to_write():
    with pytest.raises(NullValues, match=r"fill_nulls=\{'x': 0\}.*df\.na\.drop"):
        converted([1, None], pa.int32())
    with pytest.raises(NullValues, match=r"fill_nulls=\{'x': \[0, 0\]\}"):
        converted([[1, 2], None], pa.list_(pa.int32(), 2))


@pytest.mark.parametrize(
    ("kind", "fill"),
    [
        (pa.int32(), 7),
        (pa.float32(), 0.5),
        (pa.bool_(), True),
        (pa.date32(), datetime.date(2020, 1, 1)),
        (pa.timestamp("us"), datetime.datetime(2020, 1, 1, 5)),  # noqa: DTZ001 - the column has no zone
        (pa.duration("us"), datetime.timedelta(1)),
        (pa.decimal128(5, 2), 1.5),
        (pa.dictionary(pa.int8(), pa.int32()), 7),
        (pa.string(), "none"),
        (pa.dictionary(pa.int8(), pa.string()), "none"),
        (pa.binary(), b""),
    ],
    ids=str,
)
def test_a_fill_stands_for_nulls(kind, fill):
    assert converted(pa.nulls(2, kind), kind, fill_nulls={"x": fill}).tolist() == [fill, fill]


def test_nulls_within_lists_are_an_error_also_among_floats():
    with pytest.raises(NullValues) as raised:
        converted([[1, None], [None, 2]], FLOATS)
    assert raised.value.count == 2


@pytest.mark.parametrize("kind", [FLOATS, pa.list_(pa.decimal128(5, 2)), pa.large_list(pa.int8())], ids=str)
def test_a_number_fills_nulls_within_lists(kind):
    assert converted([[1, None], [None, 2]], kind, fill_nulls={"x": 9}).tolist() == [[1, 9], [9, 2]]


@pytest.mark.parametrize("fill", [[0, 9], (0, 9), np.array([0, 9])], ids=repr)
@pytest.mark.parametrize("kind", [FLOATS, pa.list_(pa.float32(), 2), pa.large_list(pa.float32())], ids=str)
def test_a_list_fills_rows_that_are_null(kind, fill):
    column = pa.array([[1, 2], [3, 4], None], kind).slice(1)
    assert converted(column, kind, fill_nulls={"x": fill}).tolist() == [[3, 4], [0, 9]]


def test_a_number_does_not_fill_rows_that_are_null():
    with pytest.raises(NullValues):
        converted([[1, 2], None], FLOATS, fill_nulls={"x": 0})


def test_a_fill_belongs_to_the_level_of_its_depth():
    kind = pa.list_(pa.list_(pa.int32()))
    rows = [[[1, 2], None], [[3, 4], [5, 6]]]
    assert converted(rows, kind, fill_nulls={"x": [8, 9]})[0].tolist() == [[1, 2], [8, 9]]
    with pytest.raises(NullValues):
        converted(rows, kind, fill_nulls={"x": [[8, 9]]})


def test_lists_as_spark_names_their_elements_are_filled():
    kind = pa.list_(pa.field("element", pa.float64(), nullable=False))
    assert converted([[1.0, 2.0], None], kind, fill_nulls={"x": [0, 0]}).tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize(
    ("kind", "fill"),
    [
        (pa.int32(), 2.5),
        (pa.int32(), "x"),
        (pa.int8(), 300),
        (pa.int64(), 10**30),
        (pa.int32(), None),
        (pa.int32(), [0]),
        (FLOATS, [[0]]),
        (pa.list_(pa.float32(), 3), [0, 0]),
        (pa.list_(pa.string()), "abc"),
        (pa.int32(), 1j),
    ],
    ids=str,
)
def test_a_fill_that_does_not_fit_is_refused_also_where_no_null_is(kind, fill):
    with pytest.raises(FillDoesNotFit, match="'x'"):
        converted([], kind, fill_nulls={"x": fill})


# --- names


def test_columns_come_in_the_order_asked_for():
    batch = pa.record_batch({"a": [1], "b": [2], "c": [3]})
    assert list(to_numpy(batch, columns=["c", "a"])) == ["c", "a"]
    assert list(to_numpy(batch)) == ["a", "b", "c"]


@pytest.mark.parametrize("options", [{"columns": ["a", "q"]}, {"fill_nulls": {"q": 0}}], ids=str)
def test_an_unknown_column_is_named_with_those_that_exist(options):
    with pytest.raises(UnknownColumns, match="no column q; choose from a, b") as raised:
        to_numpy(pa.record_batch({"a": [1], "b": [2]}), **options)
    assert isinstance(raised.value, KeyError)


def test_columns_of_the_same_name_are_refused():
    batch = pa.record_batch([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(DuplicateColumns, match="called a"):
        to_numpy(batch)


# --- what a column looks like


def test_specs_tell_what_the_schema_knows():
    schema = pa.schema(
        {"n": pa.int32(), "s": pa.string(), "v": FLOATS, "m": pa.list_(pa.list_(pa.int8(), 2), 3)}
    )
    assert specs(schema) == (
        ColumnSpec(name="n", dtype=np.dtype(np.int32), shape=()),
        ColumnSpec(name="s", dtype=np.dtype(object), shape=()),
        ColumnSpec(name="v", dtype=np.dtype(np.float32), shape=(None,)),
        ColumnSpec(name="m", dtype=np.dtype(np.int8), shape=(3, 2)),
    )
    assert [spec.ragged for spec in specs(schema)] == [False, False, True, False]


def test_a_sample_tells_lengths_that_its_rows_agree_on():
    batch = pa.record_batch(
        {
            "even": pa.array([None, [1, 2], [3, None]], FLOATS),
            "ragged": pa.array([[1], [2, 3], []], FLOATS),
            "half": pa.array([[[1, 2]], [[3, 4], [5, 6]], []], pa.list_(FLOATS)),
            "nothing": pa.nulls(3, FLOATS),
        }
    )
    found = {spec.name: spec.shape for spec in specs(batch.schema, batch)}
    assert found == {"even": (2,), "ragged": (None,), "half": (None, 2), "nothing": (None,)}


def test_a_sample_without_a_column_is_refused():
    with pytest.raises(UnknownColumns, match="no column b"):
        specs(pa.schema({"a": pa.int32(), "b": pa.int32()}), pa.record_batch({"a": [1]}))


@pytest.mark.parametrize("kind", PIECE_TYPES, ids=str)
def test_a_batch_without_rows_has_the_type_and_shape_of_its_spec(kind):
    schema = pa.schema({"x": kind})
    (spec,) = specs(schema)
    array = to_numpy(schema.empty_table())["x"]
    assert array.dtype == spec.dtype
    assert array.shape == ((0,) if spec.ragged else (0, *spec.shape))


@pytest.mark.parametrize("kind", PIECE_TYPES, ids=str)
def test_a_column_of_nulls_either_converts_to_its_spec_or_says_so(kind):
    batch = pa.record_batch({"x": pa.nulls(2, kind)})
    (spec,) = specs(batch.schema, batch)
    if spec.dtype == object:
        assert to_numpy(batch)["x"].tolist() == [None, None]
    elif spec.dtype.kind == "f" and spec.shape == () and not pa.types.is_decimal(kind):
        assert np.isnan(to_numpy(batch)["x"]).all()
    else:
        with pytest.raises(NullValues):
            to_numpy(batch)


def test_a_batch_from_a_stream_without_rows_converts():
    schema = pa.schema({"x": FLOATS, "y": pa.list_(FLOATS)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(
            pa.record_batch([pa.array([], FLOATS), pa.array([], pa.list_(FLOATS))], schema=schema)
        )
    batch = pa.ipc.open_stream(sink.getvalue()).read_next_batch()
    assert [array.shape for array in to_numpy(batch).values()] == [(0,), (0,)]


def test_arrays_outlive_their_batch():
    batch = pa.record_batch({"x": pa.array([[1.0, 2.0]] * 1000, FLOATS)})
    array = to_numpy(batch)["x"]
    del batch
    assert (array == [1, 2]).all()
