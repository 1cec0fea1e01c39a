from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hopyard.errors import BadArguments
from hopyard.feed.results import decode, encode, to_schema

pytestmark = pytest.mark.unit

FLOAT = pa.schema([("prediction", pa.float32())])
TWO = pa.schema([("label", pa.int64()), ("score", pa.float64())])


@pytest.mark.parametrize(
    "results",
    [
        [1, 2, 3],
        (1, 2, 3),
        np.array([1, 2, 3]),
        np.array([[1], [2], [3]]),
        {"prediction": np.array([1, 2, 3])},
        pa.record_batch({"prediction": [1, 2, 3]}),
        pa.table({"prediction": [1, 2, 3]}),
    ],
)
def test_results_of_any_form_come_back_as_values_and_as_a_column(results: object) -> None:
    batch, count = encode(results)
    assert count == 3
    assert np.ravel(decode(batch)).tolist() == [1, 2, 3]
    assert to_schema(batch, FLOAT).column("prediction").to_pylist() == [1.0, 2.0, 3.0]


def test_an_array_with_more_axes_is_a_column_of_lists() -> None:
    batch, count = encode(np.arange(6, dtype="float32").reshape(3, 2))
    assert count == 3
    assert decode(batch) == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    schema = pa.schema([("scores", pa.list_(pa.float64()))])
    assert to_schema(batch, schema).column("scores").to_pylist() == decode(batch)


@pytest.mark.parametrize(
    "results",
    [
        [(1, 0.5), (2, 0.25)],
        [{"score": 0.5, "label": 1}, {"label": 2, "score": 0.25}],
        {"score": [0.5, 0.25], "label": [1, 2]},
        {"label": np.array([[1], [2]]), "score": np.array([[0.5], [0.25]])},
    ],
)
def test_columns_are_found_by_name_or_by_place(results: object) -> None:
    batch, _ = encode(results)
    assert to_schema(batch, TWO).to_pylist() == [{"label": 1, "score": 0.5}, {"label": 2, "score": 0.25}]


@pytest.mark.parametrize("results", ["text", 5, None])
def test_what_holds_no_results_is_refused(results: object) -> None:
    with pytest.raises(BadArguments, match="give a list"):
        encode(results)


@pytest.mark.parametrize(
    ("results", "found"),
    [
        ({"score": [0.5], "other": [1]}, "the columns score, other"),
        (pa.record_batch({"score": [0.5], "other": [1]}), "the columns score, other"),
        (pa.table({"label": [1]}), "the columns label"),
        ({"label": [1], "score": [0.5], "more": [1]}, "the columns label, score, more"),
        ([{"score": 0.5, "other": 1}], "the columns score, other"),
        (np.array([1]), "one column without a name"),
    ],
)
def test_names_that_are_not_those_of_the_schema_are_refused(results: object, found: str) -> None:
    batch, _ = encode(results)
    with pytest.raises(BadArguments) as caught:
        to_schema(batch, TWO)
    assert f"the results have {found}; the schema has label, score." in str(caught.value)


@pytest.mark.parametrize("name", ["q", "result"])
def test_the_name_of_a_single_column_counts(name: str) -> None:
    batch, _ = encode({name: [1.0]})
    with pytest.raises(BadArguments, match=f"the columns {name}; the schema has prediction"):
        to_schema(batch, FLOAT)


@pytest.mark.parametrize(
    ("shape", "wanted", "shown", "remedy"),
    [
        ((3, 2), pa.float32(), r"\(3, 2\), but its type is float", "p array<float>"),
        ((3, 2, 1), pa.float32(), r"\(3, 2, 1\), but its type is float", "p array<array<float>>"),
        ((3,), pa.list_(pa.float32()), r"\(3,\), but its type is list", "p float"),
    ],
)
def test_an_array_of_another_shape_is_refused_with_its_shape(
    shape: tuple[int, ...], wanted: pa.DataType, shown: str, remedy: str
) -> None:
    batch, _ = encode({"p": np.zeros(shape)})
    with pytest.raises(BadArguments, match=f"column p have the shape {shown}.*Write {remedy} in the schema"):
        to_schema(batch, pa.schema([("p", wanted)]))


@pytest.mark.parametrize("results", [["a", "b"], {"a": [1, 2], "b": [1, 2]}])
def test_results_that_do_not_fit_the_schema_are_refused_with_its_columns(results: object) -> None:
    batch, _ = encode(results)
    with pytest.raises(BadArguments, match="prediction"):
        to_schema(batch, FLOAT)


def test_objects_come_back_as_they_were() -> None:
    results = [{1, 2}, None, ("a", 1)]
    batch, _ = encode(results)
    assert decode(batch) == results
