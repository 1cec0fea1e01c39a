from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from hopyard.errors import BadArguments, ResultsMissing, ResultsNotWanted, WrongResults
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.pieces import Piece, pack
from hopyard.feed.results import decode

pytestmark = pytest.mark.unit

SECONDS = 10


def frame(first: int, rows: int, name: str = "x") -> pa.RecordBatch:
    return pa.record_batch({name: pa.array(range(first, first + rows), pa.int64())})


def feed_of(*pieces: pa.RecordBatch | list[object], ended: bool = True) -> tuple[RowFeed, Inbox]:
    inbox = Inbox()
    for number, some in enumerate(pieces):
        batch = pack(some) if isinstance(some, list) else some
        inbox.put(Piece(batch=batch, start=0, rows=len(some)), PartitionKey(0, 0, number), 1)
    if ended:
        inbox.end()
    return RowFeed(inbox), inbox


def test_a_batch_goes_across_pieces() -> None:
    feed, _ = feed_of(frame(0, 7), frame(7, 7))
    sizes = []
    numbers: list[int] = []
    while len(batch := feed.next_batch(5)):
        sizes.append(len(batch))
        numbers += batch.column("x").to_pylist()
    assert (sizes, numbers) == ([5, 5, 4], list(range(14)))
    assert feed.should_stop()


def test_objects_come_as_a_list() -> None:
    feed, _ = feed_of([1, "a"], [None, 2.5, (3,)])
    assert feed.next_batch(4) == [1, "a", None, 2.5]
    assert not feed.should_stop()
    assert feed.next_batch(4) == [(3,)]
    assert feed.should_stop()


def test_rows_of_another_form_begin_another_batch() -> None:
    feed, _ = feed_of(frame(0, 3), [1, 2], frame(0, 2, "y"))
    assert [len(feed.next_batch(10)) for _ in range(4)] == [3, 2, 2, 0]


def test_a_batch_within_a_piece_is_not_copied() -> None:
    whole = frame(0, 10)
    feed, _ = feed_of(whole)
    part = feed.next_batch(4)
    assert part.column("x").buffers()[1].address == whole.column("x").buffers()[1].address


def test_iteration_gives_the_pieces_as_they_came() -> None:
    feed, _ = feed_of(frame(0, 3), [1, 2])
    assert [len(some) for some in feed] == [3, 2]


def test_a_batch_has_at_least_one_row() -> None:
    feed, _ = feed_of()
    with pytest.raises(BadArguments, match="a batch of 0 rows is not possible"):
        feed.next_batch(0)


def test_after_its_end_by_the_function_nothing_is_left() -> None:
    feed, inbox = feed_of(frame(0, 10), ended=False)
    feed.next_batch(4)
    feed.terminate()
    assert feed.should_stop()
    assert len(feed.next_batch(4)) == 0
    assert inbox.level.is_stopped


def test_another_thread_can_end_a_feed_that_waits() -> None:
    feed, _ = feed_of(ended=False)
    threading.Timer(0.05, feed.terminate).start()
    assert len(feed.next_batch(4)) == 0


class Asked:
    """A feed with questions of two partitions."""

    def __init__(self, *, is_alone: bool = True) -> None:
        self.is_alone = is_alone
        self.inbox = Inbox()
        self.feed = RowFeed(self.inbox, is_alone=lambda: self.is_alone)
        self.requests = [self.inbox.new_request(f"partition {number}") for number in (0, 1)]
        for number, request in enumerate(self.requests):
            self.inbox.ask(
                request, Piece(batch=pack(list(range(5 * number, 5 * number + 5))), start=0, rows=5)
            )
            self.inbox.complete(request)


def test_a_batch_that_wants_results_is_of_one_partition() -> None:
    asked = Asked()
    batches = [asked.feed.next_batch(3) for _ in range(4)]
    assert sorted(map(tuple, batches)) == [(0, 1, 2), (3, 4), (5, 6, 7), (8, 9)]


def test_results_go_back_to_their_partition_in_order() -> None:
    asked = Asked()
    for _ in range(4):
        batch = asked.feed.next_batch(3)
        asked.feed.batch_results([number * number for number in batch])
    for number, request in enumerate(asked.requests):
        found: list[object] = []
        while (results := request.next_answer(SECONDS)) is not None:
            found += decode(results)
        assert found == [value * value for value in range(5 * number, 5 * number + 5)]


def test_a_wrong_number_of_results_names_the_batch() -> None:
    asked = Asked()
    asked.feed.next_batch(3)
    with pytest.raises(WrongResults, match=r"batch 1 \(partition [01]\) has 3 rows but got 2 results"):
        asked.feed.batch_results([1, 2])


def test_results_without_a_batch_are_refused() -> None:
    asked = Asked()
    for _ in range(2):
        asked.feed.batch_results([0] * len(asked.feed.next_batch(5)))
    with pytest.raises(WrongResults, match="no batch waits for results"):
        asked.feed.batch_results([1, 2, 3])


def test_results_for_rows_to_learn_from_are_refused_with_the_call_that_wants_some() -> None:
    feed, _ = feed_of(frame(0, 3))
    feed.next_batch(3)
    with pytest.raises(
        ResultsNotWanted, match=r"got 3 results, but train\(\) .* call inference\(df, schema\)"
    ):
        feed.batch_results([1, 2, 3])


def test_rows_that_were_read_without_results_are_an_error_when_no_more_come() -> None:
    asked = Asked()
    batches = [
        asked.feed.next_batch(3) for _ in range(4)
    ]  # one may read ahead while there is something to read
    with pytest.raises(ResultsMissing, match="asked for more rows, but 10 rows have no results yet"):
        asked.feed.next_batch(3)
    asked.feed.batch_results(batches[0])
    with pytest.raises(ResultsMissing, match="but 7 rows have no results"):
        asked.feed.next_batch(3)


def test_rows_without_results_are_no_error_while_their_partition_has_more_to_come() -> None:
    asked = Asked()
    more = asked.inbox.new_request("partition 2")
    asked.feed.next_batch(5)
    asked.feed.next_batch(5)

    def send() -> None:
        asked.inbox.ask(more, Piece(batch=pack([10]), start=0, rows=1))
        asked.inbox.complete(more)

    later = threading.Timer(0.3, send)
    later.start()
    assert asked.feed.next_batch(5) == [10]
    later.join(SECONDS)


def test_another_thread_may_take_its_time_for_results_as_long_as_it_goes_on() -> None:
    asked = Asked(is_alone=False)
    with ThreadPoolExecutor(1) as reader:
        for _ in range(2):
            reader.submit(asked.feed.next_batch, 5).result(SECONDS)
        blocked = reader.submit(asked.feed.next_batch, 5)
        with pytest.raises(TimeoutError):
            blocked.result(0.3)
        asked.is_alone = True
        with pytest.raises(ResultsMissing):
            blocked.result(SECONDS)


def test_results_that_nobody_wants_any_more_are_not_missed() -> None:
    asked = Asked()
    for _ in range(2):
        asked.feed.next_batch(5)
    for request in asked.requests:
        asked.inbox.close(request)
    asked.inbox.end()
    assert not asked.inbox.handed_out
    assert len(asked.feed.next_batch(5)) == 0
