"""A feed is an `IterableDataset` of PyTorch: its tensors, its end, and a model that trains from it."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Sequence
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from hopyard.errors import BadArguments, NullValues, RowsDiffer
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.pieces import Piece, pack
from hopyard.frameworks.torch import Torch
from hopyard.run.data_feed import DataFeed

pytestmark = pytest.mark.torch

SHARE = PartitionKey(0, 0, 0)
SECONDS = 30


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    import torch  # takes seconds, which a run of other lanes need not spend

    return torch


def put(inbox: Inbox, batches: Sequence[pa.RecordBatch]) -> None:
    start = 0
    for batch in batches:
        inbox.put(Piece(batch=batch, start=start, rows=batch.num_rows), SHARE, attempt=1)
        start += batch.num_rows


def feed_of(*batches: pa.RecordBatch) -> DataFeed:
    """Returns a feed of some pieces that has ended."""
    inbox = Inbox()
    put(inbox, batches)
    inbox.end()
    return DataFeed(inbox)


def numbers(rows: range) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(rows, pa.int64())})


def test_batches_go_across_pieces_and_the_last_one_is_shorter(torch):
    dataset = feed_of(numbers(range(5)), numbers(range(5, 7))).as_torch_dataset(3)
    assert [batch["x"].tolist() for batch in dataset] == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_data_loader_hands_the_batches_on(torch):
    dataset = feed_of(numbers(range(5))).as_torch_dataset(2)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None)
    assert [batch["x"].tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


def wrapped(torch: ModuleType, dataset: object) -> object:
    """A dataset that hands on the elements of another, as libraries around PyTorch make them."""

    class Wrapped(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield from dataset

    return Wrapped()


@pytest.mark.parametrize("is_wrapped", [False, True], ids=["as it is", "wrapped"])
def test_a_data_loader_of_default_batch_size_hands_the_batches_on(torch, is_wrapped):
    rows = pa.record_batch({"x": [[1.0, 2.0]] * 5, "s": list("abcde"), "r": [[1], [], [2, 3], [4], []]})
    dataset = feed_of(rows).as_torch_dataset(2, ragged=["r"])
    loader = torch.utils.data.DataLoader(wrapped(torch, dataset) if is_wrapped else dataset)
    batches = list(loader)
    assert [type(batch) for batch in batches] == [dict] * 3
    assert [tuple(batch["x"].shape) for batch in batches] == [(2, 2), (2, 2), (1, 2)]
    assert [batch["s"] for batch in batches] == [["a", "b"], ["c", "d"], ["e"]]
    assert [[row.tolist() for row in batch["r"]] for batch in batches] == [[[1], []], [[2, 3], [4]], [[]]]


@pytest.mark.parametrize("loads", [{}, {"batch_size": None}, None])
def test_with_a_label_batches_are_pairs_of_features_and_label(torch, loads):
    rows = pa.record_batch({"x": [[1.0, 2.0]], "y": [3]})
    dataset = feed_of(rows).as_torch_dataset(4, label="y")
    ((features, label),) = dataset if loads is None else torch.utils.data.DataLoader(dataset, **loads)
    assert (features.tolist(), label.tolist()) == ([[1, 2]], [3])


def test_with_a_label_several_features_stay_tensors_by_column(torch):
    rows = pa.record_batch({"x": [1.0], "y": [3], "z": [2.0]})
    ((features, label),) = feed_of(rows).as_torch_dataset(4, label="y", columns=["z"])
    assert (features.tolist(), label.tolist()) == ([2], [3])
    ((features, _),) = feed_of(rows).as_torch_dataset(4, label="y")
    assert sorted(features) == ["x", "z"]


def test_a_loader_of_the_feed_itself_is_told_to_load_a_dataset(torch):
    feed = feed_of(numbers(range(5)))
    with pytest.raises(TypeError) as caught:
        list(torch.utils.data.DataLoader(feed))
    assert "as_torch_dataset" in Torch().explain(caught.value, torch, ()).__notes__[0]


def test_a_data_loader_that_would_put_batches_together_is_refused(torch):
    loader = torch.utils.data.DataLoader(feed_of(numbers(range(20))).as_torch_dataset(2), batch_size=4)
    with pytest.raises(BadArguments, match=r"4 batches of this dataset into one.*batch_size=None"):
        next(iter(loader))


def test_a_batch_is_a_dict_to_all_who_look_into_it(torch, tmp_path):
    from torch.utils import _pytree

    (batch,) = feed_of(numbers(range(3))).as_torch_dataset(3)
    assert isinstance(batch, dict)
    assert type(copy.copy(batch)) is dict
    assert list(pickle.loads(pickle.dumps(batch))) == ["x"]
    torch.save(batch, tmp_path / "batch.pt")
    assert torch.load(tmp_path / "batch.pt")["x"].tolist() == [0, 1, 2]
    doubled = _pytree.tree_map(lambda tensor: 2 * tensor, batch)
    assert {name: tensor.tolist() for name, tensor in doubled.items()} == {"x": [0, 2, 4]}
    compiled = torch.compile(lambda rows: rows["x"] + 1, backend="eager")
    assert compiled(batch).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "kind", "shape", "dtype"),
    [
        ([1, 2], pa.int32(), (2,), "int32"),
        ([1, 2], pa.uint8(), (2,), "uint8"),
        ([True, False], pa.bool_(), (2,), "bool"),
        ([0.5, 1.5], pa.float64(), (2,), "float64"),
        ([[1, 2, 3], [4, 5, 6]], pa.list_(pa.float32()), (2, 3), "float32"),
    ],
)
def test_numbers_are_tensors_of_their_own_type(torch, values, kind, shape, dtype):
    (batch,) = feed_of(pa.record_batch({"x": pa.array(values, kind)})).as_torch_dataset(8)
    assert (tuple(batch["x"].shape), batch["x"].dtype) == (shape, getattr(torch, dtype))
    assert batch["x"].tolist() == values


def test_a_tensor_can_be_written_to_and_the_rows_stay_as_they_are(torch):
    rows = numbers(range(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (batch,) = feed_of(rows).as_torch_dataset(4)
    batch["x"] += 10
    assert batch["x"].tolist() == [10, 11, 12, 13]
    assert rows.column(0).to_pylist() == [0, 1, 2, 3]


def test_lists_that_vary_are_lists_of_tensors_also_where_a_batch_does_not(torch):
    rows = [[1], [2, 3], [4], [5], [], []]
    dataset = feed_of(pa.record_batch({"x": pa.array(rows, pa.list_(pa.int32()))})).as_torch_dataset(2)
    batches = [batch["x"] for batch in dataset]
    assert [[row.tolist() for row in batch] for batch in batches] == [rows[:2], rows[2:4], rows[4:]]
    assert {row.dtype for batch in batches for row in batch} == {torch.int32}


def test_lists_within_lists_are_lists_of_lists_of_tensors(torch):
    rows = [[[1], [2, 3]], [], [[4]]]
    (batch,) = feed_of(
        pa.record_batch({"x": pa.array(rows, pa.list_(pa.list_(pa.int32())))})
    ).as_torch_dataset(8)
    assert [[each.tolist() for each in row] for row in batch["x"]] == rows


def test_text_and_all_else_that_is_no_number_are_lists_of_objects(torch):
    rows = pa.record_batch({"s": ["a", None], "b": [b"1", b"2"], "d": [{"n": 1}, None], "l": [["a"], ["b"]]})
    (batch,) = feed_of(rows).as_torch_dataset(2)
    assert batch == {"s": ["a", None], "b": [b"1", b"2"], "d": [{"n": 1}, None], "l": [["a"], ["b"]]}


def test_columns_are_chosen_cast_and_filled(torch):
    rows = pa.record_batch({"a": [1, None], "b": [0.5, 1.5], "c": ["x", None]})
    dataset = feed_of(rows).as_torch_dataset(
        2, columns=["c", "b", "a"], dtypes={"b": "float32"}, fill_nulls={"a": -1, "c": ""}
    )
    (batch,) = dataset
    assert list(batch) == ["c", "b", "a"]
    assert batch["b"].dtype == torch.float32
    assert (batch["a"].tolist(), batch["c"]) == ([1, -1], ["x", ""])


def test_a_null_that_nothing_stands_for_is_told(torch):
    with pytest.raises(NullValues, match="column 'a' has 1 null"):
        list(feed_of(pa.record_batch({"a": [1, None]})).as_torch_dataset(2))


def test_rows_that_begin_to_vary_are_an_error_that_tells_what_to_do(torch):
    pieces = [pa.record_batch({"x": pa.array(rows, pa.list_(pa.int32()))}) for rows in ([[1, 2]], [[3]])]
    with pytest.raises(RowsDiffer, match=r"ragged=\['x'\]"):
        list(feed_of(*pieces).as_torch_dataset(1))
    batches = [batch["x"][0].tolist() for batch in feed_of(*pieces).as_torch_dataset(1, ragged=["x"])]
    assert batches == [[1, 2], [3]]


def test_the_rows_of_an_rdd_have_no_columns(torch):
    inbox = Inbox()
    inbox.put(Piece(batch=pack([1, 2]), start=0, rows=2), SHARE, attempt=1)
    with pytest.raises(BadArguments, match=r"feed a DataFrame, or use next_batch\(\)"):
        next(iter(DataFeed(inbox).as_torch_dataset(2)))


@pytest.mark.parametrize("batch_size", [None, 1])
def test_a_loader_with_processes_of_its_own_is_refused(torch, batch_size):
    loader = torch.utils.data.DataLoader(
        feed_of(numbers(range(4))).as_torch_dataset(2),
        batch_size=batch_size,
        num_workers=1,
        multiprocessing_context="fork",
    )
    # PyTorch hands on the text of an error in a process, and makes another class of it.
    with pytest.raises(RuntimeError, match="num_workers=0"):
        next(iter(loader))


def test_a_dataset_does_not_travel_to_other_processes(torch):
    with pytest.raises(BadArguments, match="the node's own process"):
        pickle.dumps(feed_of().as_torch_dataset(2))


def test_a_feed_without_a_row_is_a_dataset_without_a_batch(torch):
    assert list(feed_of().as_torch_dataset(2)) == []


def test_who_looks_at_the_first_batch_loses_no_row(torch):
    loader = torch.utils.data.DataLoader(feed_of(numbers(range(6))).as_torch_dataset(2), batch_size=None)
    assert next(iter(loader))["x"].tolist() == [0, 1]
    assert [batch["x"].tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]


def test_a_terminated_feed_ends_the_loop(torch):
    inbox = Inbox(limit_bytes=2000)
    pieces = [numbers(range(start, start + 100)) for start in range(0, 5000, 100)]
    feeder = threading.Thread(target=put, args=(inbox, pieces))
    feeder.start()
    feed = DataFeed(inbox)
    batches = 0
    for _ in feed.as_torch_dataset(10):
        batches += 1
        if batches == 15:
            feed.terminate()
    feeder.join(SECONDS)
    assert not feeder.is_alive()
    assert batches == 15


def test_a_model_learns_while_rows_are_fed(torch):
    inbox = Inbox(limit_bytes=4000)
    x = np.random.default_rng(0).normal(size=(3000, 2))
    y = x @ np.array([2.0, -1.0]) + 1
    pieces = [
        pa.record_batch({"x": pa.array(list(x[at : at + 200])), "y": y[at : at + 200]})
        for at in range(0, 3000, 200)
    ]
    feeder = threading.Thread(target=lambda: (put(inbox, pieces), inbox.end()))
    feeder.start()
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    dataset = DataFeed(inbox).as_torch_dataset(50, dtypes={"x": "float32", "y": "float32"})
    for batch in torch.utils.data.DataLoader(dataset, batch_size=None):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch["x"]).squeeze(1), batch["y"])
        loss.backward()
        optimizer.step()
    feeder.join(SECONDS)
    assert loss.item() < 1e-3
    assert torch.allclose(model.weight.detach(), torch.tensor([[2.0, -1.0]]), atol=0.05)
