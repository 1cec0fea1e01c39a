from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa
import pytest

from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.level import Taken
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.pieces import Piece
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.unit

SHARE = PartitionKey(0, 0, 3)
ROWS = 100
SIZE = 8 * ROWS
SECONDS = 10


def piece(start: int = 0) -> Piece:
    batch = pa.record_batch({"x": pa.array(range(start, start + ROWS), pa.int64())})
    return Piece(batch=batch, start=start, rows=ROWS)


@pytest.fixture
def aside() -> Iterator[Callable[..., Future[object]]]:
    """Calls something in another thread."""
    with ThreadPoolExecutor() as pool:
        yield pool.submit


def test_pieces_are_drawn_in_the_order_of_their_coming() -> None:
    inbox = Inbox()
    for start in (0, 100, 200):
        assert inbox.put(piece(start), SHARE, attempt=1) is Taken.KEPT
    inbox.end()
    drawn = iter(inbox.draw, None)
    assert [found.start for found in drawn] == [0, 100, 200]  # type: ignore[union-attr]
    assert inbox.is_done


def test_a_piece_waits_until_there_is_room(aside: Callable[..., Future[object]]) -> None:
    inbox = Inbox(limit_bytes=2 * SIZE)
    inbox.put(piece(0), SHARE, 1)
    inbox.put(piece(100), SHARE, 1)
    third = aside(inbox.put, piece(200), SHARE, 1)
    wait_until(lambda: inbox.level.blocked == 1, "the third piece waits", SECONDS)
    assert (inbox.level.received, inbox.level.waiting) == (200, 200)
    inbox.draw()
    assert third.result(SECONDS) is Taken.KEPT
    assert inbox.level.consumed == 100


def test_a_piece_that_is_bigger_than_the_inbox_waits_alone() -> None:
    inbox = Inbox(limit_bytes=10)
    assert inbox.put(piece(), SHARE, 1) is Taken.KEPT
    assert inbox.draw() is not None


def test_who_draws_waits_for_what_comes(aside: Callable[..., Future[object]]) -> None:
    inbox = Inbox()
    drawn = aside(inbox.draw)
    inbox.put(piece(7), SHARE, 1)
    assert drawn.result(SECONDS).start == 7  # type: ignore[attr-defined]


def test_the_end_is_told_to_who_waits(aside: Callable[..., Future[object]]) -> None:
    inbox = Inbox()
    drawn = aside(inbox.draw)
    inbox.end()
    assert drawn.result(SECONDS) is None


def test_a_stop_refuses_those_who_wait_and_those_who_come(aside: Callable[..., Future[object]]) -> None:
    inbox = Inbox(limit_bytes=SIZE)
    inbox.put(piece(0), SHARE, 1)
    second = aside(inbox.put, piece(100), SHARE, 1)
    wait_until(lambda: inbox.level.blocked == 1, "the second piece waits", SECONDS)
    inbox.stop()
    assert second.result(SECONDS) is Taken.STOPPED
    assert inbox.put(piece(200), SHARE, 1) is Taken.STOPPED
    assert inbox.draw() is None


def test_an_attempt_that_was_given_up_is_barred_also_while_it_waits(
    aside: Callable[..., Future[object]],
) -> None:
    inbox = Inbox(limit_bytes=SIZE)
    inbox.put(piece(0), SHARE, attempt=1)
    late = aside(inbox.put, piece(100), SHARE, 1)
    wait_until(lambda: inbox.level.blocked == 1, "the second piece waits", SECONDS)
    assert list(inbox.claim(SHARE, attempt=2)) == [(0, 100)]
    assert late.result(SECONDS) is Taken.BARRED
    inbox.draw()
    assert inbox.put(piece(100), SHARE, attempt=2) is Taken.KEPT
    assert inbox.counts(0, 0) == {3: 200}


def test_other_partitions_and_epochs_are_not_barred() -> None:
    inbox = Inbox()
    inbox.claim(SHARE, attempt=9)
    assert inbox.put(piece(), PartitionKey(0, 0, 4), attempt=1) is Taken.KEPT
    assert inbox.put(piece(), PartitionKey(0, 1, 3), attempt=1) is Taken.KEPT


def test_the_home_of_a_partition_knows_a_second_attempt() -> None:
    inbox = Inbox()
    assert not inbox.open(SHARE, attempt=5)
    assert not inbox.open(SHARE, attempt=5)
    assert inbox.open(SHARE, attempt=6)
    inbox.forget(0, 0)
    assert not inbox.open(SHARE, attempt=7)


def test_many_threads_bring_and_nothing_is_lost() -> None:
    inbox = Inbox(limit_bytes=3 * SIZE)
    shares = [PartitionKey(0, 0, number) for number in range(8)]
    threads = [
        threading.Thread(target=lambda key=key: [inbox.put(piece(ROWS * n), key, 1) for n in range(20)])
        for key in shares
    ]
    for thread in threads:
        thread.start()
    rows = 0
    while rows < 8 * 20 * ROWS:
        found = inbox.draw()
        assert found is not None
        rows += found.rows
    for thread in threads:
        thread.join(SECONDS)
    assert inbox.counts(0, 0) == dict.fromkeys(range(8), 20 * ROWS)
    assert inbox.level.waiting == 0
