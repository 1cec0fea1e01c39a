"""Epochs as users think of them: a loop over a dataset is one epoch, the next loop is the next."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hopyard.errors import BadArguments, EpochLeft, NoMoreEpochs, NotFed
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.pieces import Piece, pack
from hopyard.run.data_feed import DataFeed, ValidationFeed

pytestmark = pytest.mark.unit

SECONDS = 10


def frame(rows: range, name: str = "x") -> pa.RecordBatch:
    return pa.record_batch({name: pa.array(rows, pa.int64())})


def put_epoch(inbox: Inbox, epoch: int, rows: range, epochs: int = 3) -> None:
    inbox.begin(0, epoch, epochs - epoch)
    if rows:
        inbox.put(Piece(batch=frame(rows), start=0, rows=len(rows)), PartitionKey(0, epoch, 0), 1)
    inbox.end_epoch(0, epoch)


def fed(*epochs: range, ended: bool = True) -> DataFeed:
    inbox = Inbox()
    for epoch, rows in enumerate(epochs):
        put_epoch(inbox, epoch, rows, len(epochs))
    if ended:
        inbox.end()
    return DataFeed(inbox)


@pytest.mark.parametrize("call", ["as_numpy", "as_tf_dataset", "as_torch_dataset"])
def test_one_value_for_the_nulls_of_all_columns_is_refused_with_a_dict_for_them(call: str) -> None:
    with pytest.raises(
        BadArguments, match=r"fill_nulls=0 is not valid; give a dict by column, such as .*: 0"
    ):
        getattr(fed(range(3)), call)(2, fill_nulls=0)


def numbers(batches: object) -> list[list[int]]:
    return [arrays["x"].tolist() for arrays in batches]  # type: ignore[attr-defined]


def test_each_loop_over_arrays_reads_one_epoch() -> None:
    batches = fed(range(5), range(10, 13)).as_numpy(3)
    assert numbers(batches) == [[0, 1, 2], [3, 4]]
    assert numbers(batches) == [[10, 11, 12]]


def test_an_epoch_that_was_not_fed_is_an_error_and_no_empty_loop() -> None:
    batches = fed(range(2), range(2)).as_numpy(3)
    for _ in range(2):
        numbers(batches)
    with pytest.raises(NoMoreEpochs, match=r"asked for epoch 3, but the feed has only 2.*epochs=3"):
        numbers(batches)


def test_epochs_are_as_many_as_come() -> None:
    feed = fed(range(2), range(0), range(4, 6))
    assert [(epoch.number, numbers(epoch.as_numpy(9))) for epoch in feed.epochs()] == [
        (0, [[0, 1]]),
        (1, []),
        (2, [[4, 5]]),
    ]


def test_what_a_loop_leaves_of_an_epoch_is_passed_over() -> None:
    feed = fed(range(9), range(10, 12))
    firsts = [next(iter(epoch.as_numpy(2)))["x"].tolist() for epoch in feed.epochs()]
    assert firsts == [[0, 1], [10, 11]]


def test_an_epoch_is_read_once() -> None:
    feed = fed(range(3), range(3))
    epochs = feed.epochs()
    first = next(epochs)
    numbers(first.as_numpy(9))
    with pytest.raises(NoMoreEpochs):
        numbers(first.as_numpy(9))
    assert numbers(next(epochs).as_numpy(9)) == [[0, 1, 2]]


def test_the_first_batch_can_be_looked_at_and_no_row_is_lost() -> None:
    batches = fed(range(4), range(10, 12)).as_numpy(2)
    assert next(iter(batches))["x"].tolist() == [0, 1]
    assert numbers(batches) == [[0, 1], [2, 3]]
    assert numbers(batches) == [[10, 11]]


def test_an_epoch_of_one_batch_can_be_looked_at() -> None:
    batches = fed(range(2), range(10, 12)).as_numpy(2)
    next(iter(batches))
    assert numbers(batches) == [[0, 1]]
    assert numbers(batches) == [[10, 11]]


def test_a_loop_that_begins_again_may_have_batches_of_another_size() -> None:
    feed = fed(range(5))
    first = iter(feed.as_numpy(2))
    assert [next(first)["x"].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    assert numbers(feed.as_numpy(3)) == [[0, 1, 2], [3, 4]]


def test_rows_that_are_given_back_are_not_counted_twice() -> None:
    inbox = Inbox()
    put_epoch(inbox, 0, range(5), 1)
    feed = DataFeed(inbox)
    next(iter(feed.as_numpy(2)))
    numbers(feed.as_numpy(3))
    assert (feed.rows_per_epoch, inbox.level.received, inbox.level.consumed) == (5, 5, 5)
    assert inbox.unread() is None


def test_an_epoch_that_is_begun_again_does_not_count_as_read() -> None:
    inbox = Inbox()
    put_epoch(inbox, 0, range(2), 2)
    feed = DataFeed(inbox)
    next(iter(feed.as_numpy(3)))  # which draws the end of the epoch, too
    next(iter(feed.as_numpy(3)))
    assert inbox.level.read < (0, 0)


def test_a_look_at_an_epoch_of_the_feed_loses_no_row() -> None:
    feed = fed(range(4), range(10, 12))
    looks = []
    for epoch in feed.epochs():
        next(iter(epoch.as_numpy(2)))
        looks.append(numbers(epoch.as_numpy(2)))
    assert looks == [[[0, 1], [2, 3]], [[10, 11]]]


def test_an_epoch_that_was_left_too_late_to_begin_again_is_an_error() -> None:
    feed = fed(range(5_000_000))
    loop = iter(feed.as_numpy(4_500_000))
    next(loop)
    next(loop)
    with pytest.raises(EpochLeft, match=r"left after 5000000 rows of epoch 1, and only the first 32 MB"):
        numbers(feed.as_numpy(4_500_000))


def test_a_loop_that_read_as_much_as_the_epoch_before_is_not_begun_again(caplog: Any) -> None:
    batches = fed(range(2), range(10, 14), range(20, 22)).as_numpy(2)
    numbers(batches)
    next(iter(batches))  # as Keras, which knows by now how many batches an epoch has
    assert numbers(batches) == [[20, 21]]
    assert "epoch 1: 2 of the 4 rows of this node were left out since the loop ended" in caplog.text


def test_two_loops_at_a_time_are_refused() -> None:
    feed = fed(range(6))
    with pytest.raises(BadArguments, match="two loops"):
        list(zip(feed.as_numpy(2), feed.as_numpy(2), strict=False))


def test_names_of_columns_that_are_none_are_refused() -> None:
    feed = fed(range(6))
    for call, columns in [("as_numpy", "x"), ("as_tf_dataset", [1]), ("as_torch_dataset", 3)]:
        with pytest.raises(BadArguments, match=rf"for {call}\(\): columns=.* give a list of names"):
            getattr(feed, call)(2, columns=columns)
    with pytest.raises(BadArguments, match="label=\\['y'\\] is not valid; give the name of one column"):
        feed.as_tf_dataset(2, label=["y"])


def test_arrays_are_asked_for_as_datasets_are() -> None:
    assert numbers(fed(range(3)).as_numpy(batch_size=2)) == [[0, 1], [2]]


def test_batches_of_the_feed_itself_go_across_epochs() -> None:
    feed = fed(range(3), range(3, 6))
    assert [len(feed.next_batch(4)) for _ in range(3)] == [4, 2, 0]


def test_rows_per_epoch_are_known_after_the_first() -> None:
    feed = fed(range(5), range(5))
    assert (feed.rows_per_epoch, feed.steps_per_epoch(2)) == (None, None)
    numbers(feed.as_numpy(2))
    assert (feed.rows_per_epoch, feed.steps_per_epoch(2)) == (5, 3)


def test_nodes_that_start_again_know_which_epoch_comes_first() -> None:
    inbox = Inbox()
    put_epoch(inbox, 2, range(3))
    inbox.end()
    feed = DataFeed(inbox)
    assert [epoch.number for epoch in feed.epochs()] == [2]
    assert feed.first_epoch == 2


def test_rows_of_a_stream_and_of_what_follows_it_are_not_one_epoch() -> None:
    inbox = Inbox()
    inbox.begin(0, 0, 0)
    inbox.put(Piece(batch=frame(range(2)), start=0, rows=2), PartitionKey(0, 0, 0), 1)
    inbox.begin(0, 1, 0)
    inbox.put(Piece(batch=frame(range(2, 4)), start=0, rows=2), PartitionKey(0, 1, 0), 1)
    inbox.begin(1, 0, 1)
    inbox.put(Piece(batch=frame(range(9, 10)), start=0, rows=1), PartitionKey(1, 0, 0), 1)
    inbox.end_epoch(1, 0)
    inbox.end()
    assert [numbers(epoch.as_numpy(8)) for epoch in DataFeed(inbox).epochs()] == [[[0, 1, 2, 3]], [[9]]]


def test_objects_have_no_columns() -> None:
    inbox = Inbox()
    inbox.put(Piece(batch=pack([1, 2]), start=0, rows=2), PartitionKey(0, 0, 0), 1)
    with pytest.raises(BadArguments, match="feed a DataFrame"):
        next(iter(DataFeed(inbox).as_numpy(2)))


# --- what a function leaves behind


def test_a_function_that_never_asks_leaves_everything() -> None:
    inbox = Inbox()
    unread = inbox.unread()
    assert unread is not None
    assert not unread.was_asked


def test_a_function_that_read_all_epochs_leaves_nothing() -> None:
    inbox = Inbox()
    for epoch in range(2):
        put_epoch(inbox, epoch, range(4), 2)
    batches = DataFeed(inbox).as_numpy(3)
    for _ in range(2):
        numbers(batches)
    assert inbox.unread() is None


def test_epochs_that_are_still_to_come_are_left() -> None:
    inbox = Inbox()
    put_epoch(inbox, 0, range(4), epochs=3)
    numbers(DataFeed(inbox).as_numpy(3))
    unread = inbox.unread()
    assert unread is not None
    assert (unread.consumed, unread.waiting, unread.epochs_left) == (4, 0, 2)


def test_a_function_that_ends_its_feed_leaves_nothing() -> None:
    inbox = Inbox()
    put_epoch(inbox, 0, range(4), epochs=3)
    feed = DataFeed(inbox)
    feed.next_batch(1)
    feed.terminate()
    assert inbox.unread() is None


def test_within_an_epoch_it_is_known_when_the_next_row_or_the_end_comes() -> None:
    inbox = Inbox()
    inbox.begin(0, 0, 1)
    inbox.put(Piece(batch=frame(range(4)), start=0, rows=4), PartitionKey(0, 0, 0), 1)
    DataFeed(inbox).next_batch(4)
    found: list[object] = []
    asking = threading.Thread(target=lambda: found.append(inbox.unread()))
    asking.start()
    inbox.end_epoch(0, 0)
    asking.join(SECONDS)
    assert found == [None]


def test_epochs_of_which_no_row_is_read_have_all_been_passed() -> None:
    feed = fed(range(3), range(3))
    assert [epoch.number for epoch in feed.epochs()] == [0, 1]
    assert feed.has_passed_all


def test_an_epoch_may_be_passed_if_rows_of_another_are_read() -> None:
    feed = fed(range(3), range(4, 6))
    read = [numbers(epoch.as_numpy(9)) for epoch in feed.epochs() if epoch.number == 1]
    assert read == [[[4, 5]]]
    assert not feed.has_passed_all


def test_epochs_without_rows_and_those_of_a_feed_that_was_ended_are_not_missed() -> None:
    empty, ended = fed(range(0)), fed(range(3))
    for feed in (empty, ended):
        list(feed.epochs())
    ended.terminate()
    assert not empty.has_passed_all
    assert not ended.has_passed_all


# --- rows to validate with


@pytest.fixture
def stored(tmp_path: Path) -> StoredRows:
    rows = StoredRows(tmp_path)
    rows.begin(7, share=1.0)
    for number, some in enumerate((range(4), range(4, 7))):
        rows.put(Piece(batch=frame(some), start=0, rows=len(some)), PartitionKey(7, 0, number), 1)
    assert rows.seal() == (7, True)
    rows.tell()
    return rows


def test_rows_to_validate_with_come_from_the_first_on_in_each_loop(stored: StoredRows) -> None:
    feed = ValidationFeed(stored)
    batches = feed.as_numpy(3)
    assert next(iter(batches))["x"].tolist() == [0, 1, 2]
    for _ in range(2):
        assert numbers(batches) == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(feed) == 7


def test_an_attempt_that_was_given_up_brings_no_row_to_validate_with(stored: StoredRows) -> None:
    stored.begin(8, share=1.0)
    share = PartitionKey(8, 0, 0)
    stored.claim(share, 2)
    assert stored.put(Piece(batch=frame(range(1)), start=0, rows=1), share, 1).value == "barred"
    assert stored.put(Piece(batch=frame(range(1)), start=0, rows=1), share, 2).value == "kept"
    assert stored.counts(8, 0) == {0: 1}


def test_who_validates_without_rows_is_told_how_to_feed_them(tmp_path: Path) -> None:
    stored = StoredRows(tmp_path)
    stored.tell()
    with pytest.raises(NotFed, match=r"train\(data, validation="):
        len(ValidationFeed(stored))
