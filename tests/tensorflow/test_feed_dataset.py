"""A feed is a `tf.data.Dataset`: its tensors, its end, and Keras that trains from it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hopyard.errors import BadArguments, NoMoreEpochs, NothingFed, UnknownColumns
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.pieces import Piece, pack
from hopyard.frameworks.keras import Keras
from hopyard.frameworks.tensorflow import hidden_error
from hopyard.run.data_feed import DataFeed, ValidationFeed
from hopyard.run.reporter import Reporter
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.tensorflow

SECONDS = 30


@pytest.fixture(scope="module")
def tf() -> ModuleType:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import tensorflow  # takes seconds, which a run of other lanes need not spend

    return tensorflow


def put(inbox: Inbox, batches: Sequence[pa.RecordBatch], epoch: int = 0) -> None:
    start = 0
    for batch in batches:
        inbox.put(Piece(batch=batch, start=start, rows=batch.num_rows), PartitionKey(0, epoch, 0), attempt=1)
        start += batch.num_rows


def feed_of(*batches: pa.RecordBatch) -> DataFeed:
    """Returns a feed of some pieces that has ended."""
    inbox = Inbox()
    put(inbox, batches)
    inbox.end()
    return DataFeed(inbox)


@contextmanager
def feeding(*batches: pa.RecordBatch, limit_bytes: int = 1 << 20) -> Iterator[DataFeed]:
    """Feeds pieces from another thread, which has to wait for room, and leaves the feed open.

    What would hang ends when the feed is stopped: no timeout of pytest's can interrupt TensorFlow.
    """
    inbox = Inbox(limit_bytes=limit_bytes)
    is_late = threading.Event()
    watch = threading.Timer(SECONDS, lambda: (is_late.set(), inbox.stop()))
    feeder = threading.Thread(target=put, args=(inbox, batches))
    watch.start()
    feeder.start()
    try:
        yield DataFeed(inbox)
    finally:
        watch.cancel()
        inbox.stop()
        feeder.join(SECONDS)
    assert not is_late.is_set(), "it hung until the feed was stopped"
    assert not feeder.is_alive()


def numbers(rows: range) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(rows, pa.int64())})


# --- tensors


def test_batches_go_across_pieces_and_the_last_one_is_shorter(tf):
    dataset = feed_of(numbers(range(5)), numbers(range(5, 7))).as_tf_dataset(3)
    assert [batch["x"].numpy().tolist() for batch in dataset] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize(
    ("values", "kind", "shape", "dtype"),
    [
        ([1, 2], pa.int32(), [None], "int32"),
        ([1, 2], pa.int8(), [None], "int8"),
        ([True, False], pa.bool_(), [None], "bool"),
        ([0.5, 1.5], pa.float32(), [None], "float32"),
        ([[1, 2, 3], [4, 5, 6]], pa.list_(pa.float32()), [None, 3], "float32"),
        ([[[1, 2]], [[3, 4]]], pa.list_(pa.list_(pa.float64())), [None, 1, 2], "float64"),
    ],
)
def test_numbers_are_dense_tensors_of_their_own_type(tf, values, kind, shape, dtype):
    dataset = feed_of(pa.record_batch({"x": pa.array(values, kind)})).as_tf_dataset(8)
    assert dataset.element_spec == {"x": tf.TensorSpec(shape, dtype)}
    assert next(iter(dataset))["x"].numpy().tolist() == values


def test_strings_and_bytes_are_string_tensors(tf):
    dataset = feed_of(pa.record_batch({"s": ["a", "é", ""], "b": [b"\xff", b"\x00", b""]})).as_tf_dataset(3)
    batch = next(iter(dataset))
    assert batch["s"].numpy().tolist() == [b"a", "é".encode(), b""]
    assert batch["b"].numpy().tolist() == [b"\xff", b"\x00", b""]


def test_lists_that_vary_are_ragged_tensors_also_where_a_batch_does_not(tf):
    rows = [[1.0], [2.0, 3.0], [4.0], [5.0], [], []]
    dataset = feed_of(pa.record_batch({"x": pa.array(rows, pa.list_(pa.float32()))})).as_tf_dataset(2)
    assert dataset.element_spec == {"x": tf.RaggedTensorSpec([None, None], tf.float32)}
    assert [batch["x"].to_list() for batch in dataset] == [rows[:2], rows[2:4], rows[4:]]


def test_lists_within_lists_and_lists_of_strings_are_ragged_tensors(tf):
    deep = pa.array([[[1], [2, 3]], []], pa.list_(pa.list_(pa.int32())))
    words = pa.array([["a", "b"], ["c"]])
    batch = next(iter(feed_of(pa.record_batch({"deep": deep, "words": words})).as_tf_dataset(2)))
    assert batch["deep"].to_list() == [[[1], [2, 3]], []]
    assert batch["words"].to_list() == [[b"a", b"b"], [b"c"]]


def test_rows_that_begin_to_vary_are_an_error_that_tells_what_to_do(tf):
    kind = pa.list_(pa.int32())
    pieces = [pa.record_batch({"x": pa.array(rows, kind)}) for rows in ([[1, 2]], [[3]])]
    with pytest.raises(tf.errors.OpError, match=r"ragged=\['x'\]"):
        list(feed_of(*pieces).as_tf_dataset(1))
    varying = feed_of(*pieces).as_tf_dataset(1, ragged=["x"])
    assert [batch["x"].to_list() for batch in varying] == [[[1, 2]], [[3]]]


def test_columns_are_chosen_cast_and_filled(tf):
    rows = pa.record_batch({"a": [1, None], "b": [0.5, 1.5], "c": ["x", "y"]})
    dataset = feed_of(rows).as_tf_dataset(
        2, columns=["b", "a"], dtypes={"b": "float32"}, fill_nulls={"a": -1}
    )
    batch = next(iter(dataset))
    assert list(batch) == ["b", "a"]
    assert batch["b"].dtype == tf.float32
    assert batch["a"].numpy().tolist() == [1, -1]


def test_a_null_that_nothing_stands_for_is_told(tf):
    with pytest.raises(tf.errors.OpError, match=r"column 'a' has 1 null.*fill_nulls"):
        list(feed_of(pa.record_batch({"a": [1, None]})).as_tf_dataset(2))


@pytest.mark.parametrize("columns", [None, ["x"], ["x", "y"]])
def test_with_a_label_and_one_other_column_elements_are_pairs_of_tensors(tf, columns):
    rows = pa.record_batch({"x": [[1.0, 2.0]], "y": [3]})
    (features, label), *_ = feed_of(rows).as_tf_dataset(4, label="y", columns=columns)
    assert features.numpy().tolist() == [[1, 2]]
    assert label.numpy().tolist() == [3]


def test_with_a_label_and_several_columns_features_are_tensors_by_column(tf):
    rows = pa.record_batch({"x": [1.0], "y": [3], "z": ["a"]})
    (features, label), *_ = feed_of(rows).as_tf_dataset(4, label="y")
    assert sorted(features) == ["x", "z"]
    assert label.numpy().tolist() == [3]


# --- what cannot be


def test_a_label_that_is_not_there_is_an_error(tf):
    with pytest.raises(UnknownColumns, match="no column z"):
        feed_of(numbers(range(3))).as_tf_dataset(2, label="z")


def test_a_label_alone_is_an_error(tf):
    with pytest.raises(BadArguments, match="'x' is the only column"):
        feed_of(numbers(range(3))).as_tf_dataset(2, label="x")


def test_columns_without_tensors_are_named(tf):
    rows = pa.record_batch({"x": [1], "person": [{"name": "a"}]})
    with pytest.raises(BadArguments, match=r"no tensors of 'person' \(struct.*columns="):
        feed_of(rows).as_tf_dataset(2)


def test_the_rows_of_an_rdd_have_no_columns(tf):
    inbox = Inbox()
    inbox.put(Piece(batch=pack([1, 2]), start=0, rows=2), PartitionKey(0, 0, 0), attempt=1)
    with pytest.raises(BadArguments, match=r"feed a DataFrame, or use next_batch\(\)"):
        DataFeed(inbox).as_tf_dataset(2)


def test_a_feed_without_a_row_is_told_in_words(tf):
    with pytest.raises(NothingFed, match="ended without a row"):
        feed_of().as_tf_dataset(2)


# --- ends


def test_rows_come_while_they_are_fed(tf):
    pieces = [numbers(range(start, start + 100)) for start in range(0, 5000, 100)]
    with feeding(*pieces, limit_bytes=2000) as feed:
        dataset = feed.as_tf_dataset(50).unbatch().take(5000)
        assert [int(row["x"]) for row in dataset] == list(range(5000))


def test_a_dataset_waits_for_rows_that_come_late(tf):
    inbox = Inbox()
    put(inbox, [numbers(range(2))])
    batches = iter(DataFeed(inbox).as_tf_dataset(2))
    next(batches)
    # longer than the dataset waits at a time
    late = threading.Timer(0.5, lambda: (put(inbox, [numbers(range(2, 4))]), inbox.end()))
    late.start()
    assert [batch["x"].numpy().tolist() for batch in batches] == [[2, 3]]


def test_a_loop_that_is_left_while_the_feed_is_silent_does_not_hang(tf):
    with feeding(numbers(range(4))) as feed:
        for _ in feed.as_tf_dataset(2):
            break


def test_the_first_rows_can_be_taken_while_the_feed_is_silent(tf):
    with feeding(numbers(range(4))) as feed:
        assert len(list(feed.as_tf_dataset(2).take(2))) == 2


def test_batches_that_came_before_and_after_a_loop_was_left_are_not_lost(tf):
    inbox = Inbox()
    put(inbox, [numbers(range(2))])
    dataset = DataFeed(inbox).as_tf_dataset(2)
    for _ in dataset:
        break
    put(inbox, [numbers(range(2, 4))])
    inbox.end()
    assert [batch["x"].numpy().tolist() for batch in dataset] == [[0, 1], [2, 3]]


LOOKS = {
    "take": lambda dataset: list(dataset.take(1)),
    "next": lambda dataset: next(iter(dataset)),
    "spec": lambda dataset: dataset.element_spec,
    "a dataset of the user's own": lambda dataset: list(dataset.map(lambda batch: batch["x"]).take(1)),
}


# TensorFlow runs a function of the user's own for up to 16 batches at a time
@pytest.mark.parametrize(
    ("look", "rows"),
    [
        *((look, rows) for look in ("take", "next", "spec") for rows in (2, 5)),
        ("a dataset of the user's own", 80),
    ],
)
def test_who_looks_at_the_first_batch_loses_no_row(tf, look, rows):
    feed = epochs_of([numbers(range(rows))], [numbers(range(rows))])
    dataset = feed.as_tf_dataset(2)
    LOOKS[look](dataset)
    seen = [[int(x) for batch in dataset for x in batch["x"]] for _ in range(2)]
    assert seen == [list(range(rows))] * 2


def test_keras_learns_from_all_rows_of_an_epoch_that_was_looked_at(tf):
    keras = pytest.importorskip("keras")
    dataset = epochs_of(*[[lines(200)]] * 2).as_tf_dataset(50, label="y")
    batches = []
    for _ in dataset.take(1):
        pass
    count = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: batches.append(batch))
    compiled(keras).fit(dataset, epochs=2, callbacks=[count], verbose=0)
    assert batches == [0, 1, 2, 3] * 2


def test_another_dataset_begins_the_epoch_at_its_first_row(tf):
    feed = epochs_of([numbers(range(5))])
    next(iter(feed.as_tf_dataset(2)))
    assert [batch["x"].numpy().tolist() for batch in feed.as_tf_dataset(3)] == [[0, 1, 2], [3, 4]]


def test_two_loops_at_the_same_time_are_an_error(tf):
    feed = epochs_of([numbers(range(200))])
    both = zip(feed.as_tf_dataset(2), feed.as_tf_dataset(2), strict=False)
    with pytest.raises(tf.errors.OpError, match="two loops read this feed"):
        list(both)


def test_a_terminated_feed_ends_the_dataset_and_lets_its_feeder_go(tf):
    pieces = [numbers(range(start, start + 1000)) for start in range(0, 200_000, 1000)]
    with feeding(*pieces, limit_bytes=20_000) as feed:
        batches = iter(feed.as_tf_dataset(100))
        next(batches)
        feed.terminate()
        rest = sum(1 for _ in batches)
        assert rest < 1900
        assert feed.should_stop()


def test_terminate_ends_a_dataset_that_waits_for_rows(tf):
    with feeding(numbers(range(2))) as feed:
        batches = iter(feed.as_tf_dataset(2))
        next(batches)
        threading.Timer(0.3, feed.terminate).start()
        assert list(batches) == []


def test_a_dataset_that_has_ended_says_so_and_leaves_no_thread(tf):
    def drawing() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name.startswith("hopyard-feed")]

    before = len(drawing())
    dataset = feed_of(numbers(range(4))).as_tf_dataset(2)
    list(dataset)
    for _ in range(2):
        with pytest.raises(tf.errors.UnknownError, match="asked for epoch 2, but the feed has only 1"):
            list(dataset)
    wait_until(lambda: len(drawing()) <= before, "the thread of the dataset is gone", SECONDS)


# --- Keras and strategies


def lines(rows: int, seed: int = 0) -> pa.RecordBatch:
    """Returns rows on a plane: y = 2 a - b + 1."""
    x = np.random.default_rng(seed).normal(size=(rows, 2)).astype(np.float32)
    y = x @ np.array([2, -1], np.float32) + 1
    return pa.record_batch({"x": pa.array(list(x), pa.list_(pa.float32())), "y": y})


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_keras_learns_from_the_rows_of_three_epochs(tf, package):
    keras = pytest.importorskip(package)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    pieces = [lines(200, seed) for seed in range(5)] * 3
    with feeding(*pieces, limit_bytes=4000) as feed:
        dataset = feed.as_tf_dataset(50, label="y")
        history = model.fit(dataset, epochs=3, steps_per_epoch=20, verbose=0).history["loss"]
    assert len(history) == 3
    assert history[-1] < 1e-3
    assert np.allclose(model.get_weights()[0].ravel(), [2, -1], atol=0.05)


def epochs_of(*epochs: Sequence[pa.RecordBatch]) -> DataFeed:
    """Returns a feed of some epochs that has ended."""
    inbox = Inbox()
    for epoch, batches in enumerate(epochs):
        inbox.begin(0, epoch, len(epochs) - epoch)
        put(inbox, batches, epoch)
        inbox.end_epoch(0, epoch)
    inbox.end()
    return DataFeed(inbox)


def compiled(keras: ModuleType) -> Any:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    return model


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_each_epoch_of_keras_is_one_that_was_fed(tf, package):
    keras = pytest.importorskip(package)
    feed = epochs_of(*[[lines(200, seed) for seed in range(3)]] * 3)
    steps: list[int] = []

    class Count(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            steps.append(0)

        def on_train_batch_end(self, batch, logs=None):
            steps[-1] += 1

    dataset = feed.as_tf_dataset(64, label="y")
    losses = compiled(keras).fit(dataset, epochs=3, callbacks=[Count()], verbose=0).history["loss"]
    assert steps == [10, 10, 10]
    assert losses[0] > losses[1] > losses[2] > 0
    assert feed.steps_per_epoch(64) == 10


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_keras_that_asks_for_more_epochs_than_were_fed_fails(tf, package):
    keras = pytest.importorskip(package)
    dataset = epochs_of([lines(100)], [lines(100)]).as_tf_dataset(50, label="y")
    with pytest.raises(tf.errors.UnknownError, match="asked for epoch 3, but the feed has only 2"):
        compiled(keras).fit(dataset, epochs=3, verbose=0)


def test_the_error_that_tensorflow_made_its_own_of_is_known(tf):
    feed = epochs_of([numbers(range(4))])
    dataset = feed.as_tf_dataset(2)
    list(dataset)
    with pytest.raises(tf.errors.UnknownError) as caught:
        list(dataset)
    assert isinstance(feed.noted, NoMoreEpochs)
    assert hidden_error(caught.value, [feed.noted, KeyError("x")]) is feed.noted
    with pytest.raises(tf.errors.InvalidArgumentError) as other:
        tf.linalg.matmul(tf.ones([2, 2]), tf.ones([3, 3]))
    assert hidden_error(other.value, [feed.noted]) is None


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_who_trains_on_the_feed_itself_is_told_to_make_a_dataset(tf, package):
    keras = pytest.importorskip(package)
    with pytest.raises(ValueError, match=r"DataFeed|data_feed") as caught:
        compiled(keras).fit(epochs_of([lines(100)]), verbose=0)
    assert "as_tf_dataset" in Keras().explain(caught.value, keras, ()).__notes__[-1]


ONES = [1.0] * 8
MISFITS = {
    "no label": ({"x": ONES}, {}, "say which column to learn (label=)"),
    "two columns": ({"x": ONES, "z": ONES, "y": ONES}, {"label": "y"}, "array('a', 'b')"),
    "one number a row": ({"x": ONES, "y": ONES}, {"label": "y"}, "array('x')"),
    "text": ({"x": ["a"] * 8, "y": ONES}, {"label": "y"}, "text has to become numbers"),
    "text to learn": ({"x": [[1.0]] * 8, "y": ["a"] * 8}, {"label": "y"}, "Text cannot be learnt"),
    "lists that vary": ({"x": [[1.0], [1.0, 2.0]] * 4, "y": ONES}, {"label": "y"}, "pad them"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_who_gives_a_model_columns_that_do_not_fit_is_told_how_to_change_them(tf, name):
    keras = pytest.importorskip("keras")
    columns, options, advice = MISFITS[name]
    dataset = epochs_of(*[[pa.record_batch(columns)]] * 2).as_tf_dataset(4, **options)
    with pytest.raises(Exception) as caught:  # noqa: PT011  of several classes
        compiled(keras).fit(dataset, verbose=0)
    assert advice in Keras().explain(caught.value, keras, ()).__notes__[-1]


@pytest.mark.parametrize("is_built", [True, False])
def test_who_predicts_with_a_dataset_is_told_to_give_the_model_the_tensor(tf, is_built):
    keras = pytest.importorskip("keras")
    model = keras.Sequential([*([keras.layers.Input((2,))] if is_built else []), keras.layers.Dense(1)])
    dataset = epochs_of(*[[pa.record_batch({"features": [[1.0, 2.0]] * 8})]] * 2).as_tf_dataset(4)
    with pytest.raises(Exception) as caught:  # noqa: PT011  of several classes
        model.predict(dataset, verbose=0)
    (note,) = Keras().explain(caught.value, keras, ()).__notes__
    assert "feed.batch_results(model.predict_on_batch(batch['features']))" in note
    if is_built:
        assert model.predict_on_batch(next(iter(dataset))["features"]).shape == (4, 1)


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_a_reporter_among_the_callbacks_says_what_is_one(tf, package):
    keras = pytest.importorskip(package)
    callbacks = [Reporter(SimpleNamespace(report=print))]
    with pytest.raises(BadArguments, match="as_keras_callback"):
        compiled(keras).fit(np.zeros((4, 1)), np.zeros(4), callbacks=callbacks, verbose=0)


def test_keras_with_steps_per_epoch_reads_a_dataset_that_repeats(tf):
    keras = pytest.importorskip("keras")
    feed = epochs_of([lines(100)], [lines(100, 1)])
    dataset = feed.as_tf_dataset(50, label="y").repeat()
    losses = compiled(keras).fit(dataset, epochs=4, steps_per_epoch=1, verbose=0).history["loss"]
    assert all(loss > 0 for loss in losses)


def test_rows_beyond_those_of_the_epoch_before_do_not_begin_the_next_one(tf):
    feed = epochs_of([numbers(range(4))], [numbers(range(10, 18))], [numbers(range(20, 24))])
    dataset = feed.as_tf_dataset(2)
    assert len(list(dataset)) == 2
    assert [batch["x"].numpy()[0] for batch in dataset.take(3)] == [10, 12, 14]  # as Keras does
    assert [batch["x"].numpy()[0] for batch in dataset] == [20, 22]


def test_an_epoch_without_rows_is_an_error_and_no_loss_of_zero(tf):
    dataset = epochs_of([numbers(range(4))], []).as_tf_dataset(2)
    list(dataset)
    with pytest.raises(tf.errors.UnknownError, match="epoch 2 had no row for this node"):
        list(dataset)


def test_validation_data_are_the_same_after_each_epoch(tf, tmp_path):
    keras = pytest.importorskip("keras")
    stored = StoredRows(tmp_path)
    stored.begin(1, share=1.0)
    stored.put(Piece(batch=lines(70, 5), start=0, rows=70), PartitionKey(1, 0, 0), 1)
    stored.seal()
    stored.tell()
    validation = ValidationFeed(stored).as_tf_dataset(32, label="y")
    dataset = epochs_of([lines(100)], [lines(100)], [lines(100)]).as_tf_dataset(50, label="y")
    model = compiled(keras)
    history = model.fit(dataset, epochs=3, validation_data=validation, verbose=0).history
    assert history["val_loss"][0] > history["val_loss"][1] > history["val_loss"][2] > 0
    assert model.evaluate(validation, verbose=0) == pytest.approx(history["val_loss"][2])


def test_keras_that_stops_early_does_not_hang(tf):
    keras = pytest.importorskip("keras")

    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = True

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    with feeding(lines(100)) as feed:
        dataset = feed.as_tf_dataset(50, label="y")
        model.fit(dataset, epochs=5, steps_per_epoch=1, callbacks=[Stop()], verbose=0)


def test_a_strategy_gets_all_rows(tf):
    dataset = feed_of(numbers(range(10))).as_tf_dataset(4)
    spread = tf.distribute.MirroredStrategy(["CPU:0"]).experimental_distribute_dataset(dataset)
    assert sum(int(tf.size(batch["x"])) for batch in spread) == 10
