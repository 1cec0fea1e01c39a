"""Nodes that train in step, over the wire, each with its own server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.errors import NotFed, NothingToRepeat, NoWholeBatch
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.hub import Uneven
from hopyard.feed.lockstep.member import LockstepGroup, LockstepGroups, LockstepMember
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.service import FeedService
from hopyard.feed.pieces import Piece
from hopyard.feed.remote import FeedNode
from hopyard.feed.signed_rows import RowSigner
from hopyard.wire import WireServer

pytestmark = pytest.mark.unit

SECONDS = 20
BATCH = 10


class TwoNodes:
    """Two nodes that are fed different numbers of rows."""

    def __init__(self, policy: Uneven, folder: Path, resources: ExitStack) -> None:
        self.inboxes = [Inbox(), Inbox()]
        self.groups = [LockstepGroups(), LockstepGroups()]
        services = [
            FeedService(inbox, StoredRows(folder), EpochCache(inbox, folder), groups, RowSigner.new())
            for inbox, groups in zip(self.inboxes, self.groups, strict=True)
        ]
        servers = [
            resources.enter_context(WireServer(service, address="127.0.0.1", close_timeout=2))
            for service in services
        ]
        hub = FeedNode(rank=0, host="", endpoint=servers[0].endpoint)
        for groups in self.groups:
            groups.meet(LockstepGroup(hub=hub, ranks=(0, 1)))
        self.feeds = [
            RowFeed(inbox, LockstepMember(rank, policy, groups))
            for rank, (inbox, groups) in enumerate(zip(self.inboxes, self.groups, strict=True))
        ]

    def give(self, *rows: int) -> None:
        for rank, number in enumerate(rows):
            batch = pa.record_batch({"x": pa.array(range(number), pa.int64())})
            self.inboxes[rank].put(Piece(batch=batch, start=0, rows=number), PartitionKey(0, 0, rank), 1)

    def train(self) -> list[list[int]]:
        """Returns the sizes of the batches that each node got, with a barrier after each as an all-reduce has it."""
        barrier = threading.Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            steps = [pool.submit(self._steps, feed, barrier) for feed in self.feeds]
            return [step.result(SECONDS) for step in steps]

    def _steps(self, feed: RowFeed, barrier: threading.Barrier) -> list[int]:
        sizes = []
        while len(batch := feed.next_batch(BATCH)):
            sizes.append(len(batch))
            barrier.wait(SECONDS)
        return sizes


@pytest.fixture
def company(tmp_path: Path) -> Iterator[Callable[[Uneven], TwoNodes]]:
    with ExitStack() as resources:
        yield lambda policy: TwoNodes(policy, tmp_path, resources)


@pytest.mark.parametrize(
    ("policy", "rows", "batches"),
    [
        (Uneven.DROP, (35, 52), 3),
        (Uneven.DROP, (52, 35), 3),
        (Uneven.PAD, (35, 52), 6),
        (Uneven.PAD, (52, 5), 6),
        (Uneven.STOP, (35, 52), 3),
    ],
)
def test_all_nodes_get_the_same_number_of_whole_batches(
    policy: Uneven, rows: tuple[int, int], batches: int, company: Callable[[Uneven], TwoNodes]
) -> None:
    both = company(policy)
    both.give(*rows)
    for inbox in both.inboxes:
        inbox.end()
    assert both.train() == [[BATCH] * batches] * 2


@pytest.mark.parametrize(
    ("policy", "rows", "error"),
    [
        (Uneven.DROP, (35, 5), NoWholeBatch((1,), (5,))),
        (Uneven.DROP, (3, 52), NoWholeBatch((0,), (3,))),
        (Uneven.PAD, (35, 0), NothingToRepeat((1,))),
    ],
)
def test_both_nodes_are_told_as_such_that_one_of_them_got_too_little(
    policy: Uneven, rows: tuple[int, int], error: Exception, company: Callable[[Uneven], TwoNodes]
) -> None:
    both = company(policy)
    both.give(*rows)
    for inbox in both.inboxes:
        inbox.end()
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(feed.next_batch, BATCH) for feed in both.feeds]
        found = [each.exception(SECONDS) for each in asked]
    assert [(type(each), str(each)) for each in found] == [(type(error), str(error))] * 2


def test_rows_that_are_left_out_of_an_epoch_are_told(
    company: Callable[[Uneven], TwoNodes], caplog: pytest.LogCaptureFixture
) -> None:
    both = company(Uneven.DROP)
    both.give(52, 25)
    for inbox in both.inboxes:
        inbox.begin(0, 0, 1)
        inbox.end_epoch(0, 0)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(read_epoch, both.feeds))
    # each node reads in a thread of its own, so either may be the first to tell
    told = sorted(record.getMessage() for record in caplog.records if "left out" in record.getMessage())
    text = "epoch 0: {} rows of this node were left out to keep step with the others (uneven='drop')"
    advice = "; spread the rows over more partitions (df.repartition)"
    assert told == [text.format("32 of the 52") + advice, text.format("5 of the 25")]


def read_epoch(feed: RowFeed) -> int:
    rows = 0
    while len(batch := feed.epoch_batch(BATCH)):
        rows += len(batch)
    feed.end_epoch(BATCH)
    return rows


def test_no_batch_is_taken_that_another_node_may_not_get(company: Callable[[Uneven], TwoNodes]) -> None:
    both = company(Uneven.DROP)
    both.give(30, 10)
    taken: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        steps = [pool.submit(both._steps, feed, threading.Barrier(1)) for feed in both.feeds]
        # the first node has three batches; it may use the second one only when the other node has one
        both.inboxes[1].put(piece(10), PartitionKey(0, 0, 9), 1)
        for inbox in both.inboxes:
            inbox.end()
        taken = [len(step.result(SECONDS)) for step in steps]
    assert taken == [2, 2]


def piece(rows: int) -> Piece:
    return Piece(batch=pa.record_batch({"x": pa.array(range(rows), pa.int64())}), start=0, rows=rows)


def test_a_node_that_leaves_ends_the_others(company: Callable[[Uneven], TwoNodes]) -> None:
    both = company(Uneven.DROP)
    both.give(30, 30)
    both.feeds[1].terminate()
    assert len(both.feeds[0].next_batch(BATCH)) == 0


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("policy", list(Uneven))
def test_a_node_whose_function_returns_ends_the_others(
    policy: Uneven, company: Callable[[Uneven], TwoNodes]
) -> None:
    both = company(policy)
    both.give(30, 20)
    with ThreadPoolExecutor(2) as pool:
        staying = pool.submit(both._steps, both.feeds[0], threading.Barrier(1))
        for _ in range(2):
            both.feeds[1].next_batch(BATCH)
        both.feeds[1].finish()
        both.inboxes[0].end()
        assert staying.result(SECONDS) == [BATCH] * 2


def test_the_end_of_a_function_that_was_told_of_the_end_is_no_news_for_the_others(
    company: Callable[[Uneven], TwoNodes],
) -> None:
    both = company(Uneven.DROP)
    both.give(20, 29)
    for inbox in both.inboxes:
        inbox.begin(0, 0, 1)
        inbox.end_epoch(0, 0)
    with ThreadPoolExecutor(2) as pool:
        (_, left_out) = pool.map(read_epoch, both.feeds)
    both.feeds[0].finish()
    assert left_out == 20
    assert not both.inboxes[1].level.is_stopped


def test_a_function_that_returns_before_anybody_was_fed_does_not_wait_for_it() -> None:
    RowFeed(Inbox(), LockstepMember(0, Uneven.DROP, LockstepGroups())).finish()


def test_a_node_that_nobody_feeds_is_told_so() -> None:
    with pytest.raises(NotFed, match=r"nobody was fed for 0\.1 s"):
        LockstepGroups().group(seconds=0.1)
