"""Which epochs count as read: those that a function is through with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from hopyard.errors import NotFed
from hopyard.feed.node import inbox as inbox_module
from hopyard.feed.node.epoch_marks import NO_EPOCH
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.pieces import Piece

pytestmark = pytest.mark.unit

SECONDS = 10
ROWS = 4


class Fed:
    """A feed of two epochs of four rows, whose end is not known yet."""

    def __init__(self) -> None:
        self.told = 0
        self.inbox = Inbox(on_read=self._hear)
        self.feed = RowFeed(self.inbox)
        for epoch in (0, 1):
            batch = pa.record_batch({"x": pa.array(range(ROWS), pa.int64())})
            self.inbox.begin(5, epoch, 2 - epoch)
            self.inbox.put(Piece(batch=batch, start=0, rows=ROWS), PartitionKey(5, epoch, 0), 1)
            self.inbox.end_epoch(5, epoch)

    def _hear(self) -> None:
        self.told += 1

    @property
    def read(self) -> tuple[int, int]:
        return self.inbox.level.read

    def read_epoch(self) -> None:
        while len(self.feed.epoch_batch(3)):
            continue
        self.feed.end_epoch(3)


def test_an_epoch_is_read_when_the_function_asks_for_more() -> None:
    fed = Fed()
    fed.read_epoch()
    assert (fed.read, fed.told) == (NO_EPOCH, 0)  # it may be about to save what it has learnt
    fed.feed.epoch_batch(1)
    assert (fed.read, fed.told) == ((5, 0), 1)


def test_an_epoch_is_not_read_while_its_last_rows_are_part_of_a_batch_under_way() -> None:
    fed = Fed()
    assert len(fed.feed.next_batch(ROWS + 1)) == ROWS + 1
    assert fed.read == NO_EPOCH
    fed.feed.next_batch(1)
    assert fed.read == (5, 0)


def test_who_ends_its_feed_after_an_epoch_has_read_it() -> None:
    fed = Fed()
    fed.read_epoch()
    fed.feed.terminate()
    assert fed.read == (5, 0)


def test_who_ends_its_feed_after_the_last_row_of_an_epoch_has_read_it() -> None:
    fed = Fed()
    fed.feed.next_batch(ROWS)
    fed.feed.terminate()
    assert fed.read == (5, 0)


def test_who_ends_its_feed_within_an_epoch_has_not_read_it() -> None:
    fed = Fed()
    fed.feed.next_batch(ROWS - 1)
    fed.feed.terminate()
    assert fed.read == NO_EPOCH


def test_who_fails_after_an_epoch_may_not_be_through_with_it() -> None:
    fed = Fed()
    fed.read_epoch()
    fed.inbox.stop(has_failed=True)
    assert fed.read == NO_EPOCH


def test_nodes_that_start_again_wait_for_the_number_of_their_first_epoch() -> None:
    inbox = Inbox(first_epoch=None)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(getattr, RowFeed(inbox), "first_epoch")
        with pytest.raises(TimeoutError):
            first.result(0.1)
        inbox.begin(0, 2, 1)
        assert first.result(SECONDS) == 2


def test_nodes_that_start_again_and_get_nothing_begin_with_the_first_epoch() -> None:
    inbox = Inbox(first_epoch=None)
    inbox.end()
    assert inbox.first_epoch == 0


def test_a_first_epoch_that_never_comes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_module, "TOLD_SECONDS", 0.01)
    with pytest.raises(NotFed, match=r"feed.first_epoch is not possible: nothing was fed for"):
        assert Inbox(first_epoch=None).first_epoch
