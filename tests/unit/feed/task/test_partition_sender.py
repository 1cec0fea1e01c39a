"""Feeders against real servers of nodes, without Spark."""

from __future__ import annotations

import dataclasses
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.errors import PeerGone, Superseded
from hopyard.feed.account import EpochAccount
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.member import LockstepGroups
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.service import FeedService
from hopyard.feed.pieces import Piece, cut_batches
from hopyard.feed.ranges import Ranges
from hopyard.feed.remote import FeedNode
from hopyard.feed.shared_memory.pool import BufferPool
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.task.node_sender import WINDOW_PIECES
from hopyard.feed.task.partition_sender import FeedPlan, PartitionReport, feed_partition
from hopyard.testing.watching import wait_until
from hopyard.wire import WireServer

pytestmark = pytest.mark.unit

ROWS_OF_A_PIECE = 500
SECONDS = 20
SIGNER = RowSigner.new()


def service(inbox: Inbox) -> FeedService:
    return FeedService(
        inbox,
        StoredRows(Path(tempfile.gettempdir())),
        EpochCache(inbox, Path(tempfile.gettempdir())),
        LockstepGroups(),
        SIGNER,
    )


class Nodes:
    """Some nodes to be fed, each with a server of its own."""

    def __init__(self, number: int, resources: ExitStack, limit_bytes: int = 1 << 20) -> None:
        self.inboxes = [Inbox(limit_bytes=limit_bytes) for _ in range(number)]
        self.servers = [
            resources.enter_context(WireServer(service(inbox), address="127.0.0.1", close_timeout=2))
            for inbox in self.inboxes
        ]
        for inbox in self.inboxes:
            resources.callback(inbox.stop)

    def plan(self, hosts: str = "", even_bytes: int = 0) -> FeedPlan:
        nodes = [
            FeedNode(rank=rank, host=hosts[rank : rank + 1] or "a", endpoint=server.endpoint)
            for rank, server in enumerate(self.servers)
        ]
        size = 8 * ROWS_OF_A_PIECE
        return FeedPlan(
            feed=0, epoch=0, nodes=tuple(nodes), signer=SIGNER, piece_bytes=size, even_bytes=even_bytes
        )

    def draw_until(self, fed: Future[PartitionReport]) -> list[int]:
        """Returns what can be drawn from all nodes until a feeder is done."""
        found: list[int] = []
        while not fed.done() or any(inbox.level.waiting for inbox in self.inboxes):
            for inbox in self.inboxes:
                if inbox.level.waiting and (piece := inbox.draw()) is not None:
                    found += piece.batch.column("x").to_pylist()
        return found

    def rows(self) -> list[int]:
        """Returns all rows that wait."""
        found: list[int] = []
        for inbox in self.inboxes:
            inbox.end()
            while (piece := inbox.draw()) is not None:
                found += piece.batch.column("x").to_pylist()
        return sorted(found)


class Relay:
    """Stands between feeders and a node: a network whose connections can be cut.

    Args:
        port: Where the node listens.
    """

    def __init__(self, port: int, resources: ExitStack) -> None:
        self._to = port
        self._listener = resources.enter_context(socket.create_server(("127.0.0.1", 0)))
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        resources.callback(self.cut)
        resources.callback(self._listener.shutdown, socket.SHUT_RDWR)  # wakes the thread
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cuts all connections that there are; new ones can be made."""
        ends, self._open = self._open, []
        for end in ends:
            with suppress(OSError):  # the other side may have closed it
                end.shutdown(socket.SHUT_RDWR)  # a close alone waits for the thread that reads from it
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to))
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            return  # it was cut


@pytest.fixture
def make() -> Iterator[Callable[..., Nodes]]:
    with ExitStack() as resources:
        yield lambda number, **options: Nodes(number, resources, **options)


@pytest.fixture
def aside() -> Iterator[Callable[..., Future[PartitionReport]]]:
    """Feeds in another thread."""
    with ThreadPoolExecutor() as pool:
        yield lambda *arguments, **options: pool.submit(feed, *arguments, **options)


def batches(rows: int) -> Iterable[pa.RecordBatch]:
    for first in range(0, rows, 1000):
        yield pa.record_batch({"x": pa.array(range(first, min(rows, first + 1000)), pa.int64())})


def feed(
    plan: FeedPlan,
    rows: int | Iterable[pa.RecordBatch],
    *,
    partition: int = 0,
    attempt: int = 1,
    host: str = "a",
    buffers: BufferPool | None = None,
) -> PartitionReport:
    data = batches(rows) if isinstance(rows, int) else rows

    def cut(without: Ranges) -> Iterable[Piece]:
        return cut_batches(data, without=without, piece_bytes=8 * ROWS_OF_A_PIECE)

    return feed_partition(plan, partition, attempt, cut, buffers=buffers or BufferPool(), host=host)


def test_all_rows_of_a_partition_arrive_once(make: Callable[..., Nodes]) -> None:
    nodes = make(3)
    report = feed(nodes.plan(), 5_000)
    assert (report.rows, sum(report.sent.values()), report.dropped) == (5_000, 5_000, 0)
    assert nodes.rows() == list(range(5_000))


def test_an_empty_partition_is_nothing_to_send(make: Callable[..., Nodes]) -> None:
    assert feed(make(2).plan(), 0) == PartitionReport(partition=0, rows=0)


def test_a_node_that_is_full_does_not_keep_rows_from_the_others(
    make: Callable[..., Nodes], aside: Callable[..., Future[PartitionReport]]
) -> None:
    nodes = make(2, limit_bytes=8 * 5_000)
    fed = aside(nodes.plan(), 400_000)
    drawn = 0
    while drawn < 300_000:  # from node 1 alone; node 0 is stuck
        piece = nodes.inboxes[1].draw()
        assert piece is not None
        drawn += piece.rows
    assert nodes.inboxes[0].level.consumed == 0
    nodes.draw_until(fed)
    assert sum(fed.result(SECONDS).sent.values()) == 400_000


def test_a_node_on_the_same_host_is_fed_alone_while_it_has_room(make: Callable[..., Nodes]) -> None:
    nodes = make(3)
    report = feed(nodes.plan(hosts="bca"), 5_000, host="a")
    assert report.sent == {2: 5_000}


def test_a_small_partition_is_spread_over_all_hosts(make: Callable[..., Nodes]) -> None:
    report = feed(make(2).plan(hosts="ab", even_bytes=8 * 5_000), 5_000, host="a")
    assert report.sent == {0: 2_500, 1: 2_500}


def test_nodes_on_other_hosts_are_fed_when_the_near_one_is_full(
    make: Callable[..., Nodes], aside: Callable[..., Future[PartitionReport]]
) -> None:
    nodes = make(2, limit_bytes=8 * 30_000)
    fed = aside(nodes.plan(hosts="ba"), 50_000, host="a")
    far, near = nodes.inboxes
    wait_until(lambda: near.level.blocked == 1 and far.level.waiting > 15_000, "the far one is fed", SECONDS)
    assert near.level.waiting == 30_000
    nodes.draw_until(fed)
    assert sum(fed.result(SECONDS).sent.values()) == 50_000


def test_nodes_get_the_same_number_of_rows_as_long_as_they_have_room(make: Callable[..., Nodes]) -> None:
    half = WINDOW_PIECES * ROWS_OF_A_PIECE  # as much as may be on its way to a node, however slow it is
    assert feed(make(2).plan(), 2 * half).sent == {0: half, 1: half}


def test_small_partitions_take_turns(make: Callable[..., Nodes]) -> None:
    plan = make(2).plan()
    assert [[*feed(plan, 10, partition=number).sent] for number in range(4)] == [[0], [1], [0], [1]]


def test_what_a_node_did_not_take_goes_to_another_one(
    make: Callable[..., Nodes], aside: Callable[..., Future[PartitionReport]]
) -> None:
    nodes = make(2, limit_bytes=8 * 5_000)
    fed = aside(nodes.plan(), 50_000)
    wait_until(lambda: all(inbox.level.blocked for inbox in nodes.inboxes), "both are full", SECONDS)
    lost = nodes.inboxes[0].level.received
    nodes.inboxes[0].stop()
    nodes.draw_until(fed)
    report = fed.result(SECONDS)
    assert (report.sent, report.dropped) == ({0: lost, 1: 50_000 - lost}, 0)


def test_a_second_attempt_brings_only_what_is_missing(make: Callable[..., Nodes]) -> None:
    nodes = make(2)

    def breaks_off() -> Iterator[pa.RecordBatch]:
        yield from batches(3_000)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        feed(nodes.plan(), breaks_off(), attempt=1)
    report = feed(nodes.plan(), 5_000, attempt=2)
    assert report.rows == 5_000
    assert report.skipped + sum(report.sent.values()) == 5_000
    assert report.skipped > 0
    received = {rank: inbox.level.received for rank, inbox in enumerate(nodes.inboxes)}
    assert EpochAccount.of(0, [report], 1.0).by_node == received
    assert nodes.rows() == list(range(5_000))


def test_an_attempt_that_goes_on_beside_a_later_one_is_given_up(
    make: Callable[..., Nodes], aside: Callable[..., Future[PartitionReport]]
) -> None:
    nodes = make(2, limit_bytes=8 * 5_000)
    first = aside(nodes.plan(), 400_000, attempt=1)
    wait_until(lambda: all(inbox.level.blocked for inbox in nodes.inboxes), "both are full", SECONDS)
    second = aside(nodes.plan(), 400_000, attempt=2)
    with pytest.raises(Superseded, match="attempt 1 to feed partition 0"):
        first.result(SECONDS)
    assert sorted(nodes.draw_until(second)) == list(range(400_000))


def test_rows_go_to_the_others_when_a_node_wants_no_more(make: Callable[..., Nodes]) -> None:
    nodes = make(2)
    nodes.inboxes[0].stop()
    report = feed(nodes.plan(), 5_000)
    assert report.sent.keys() == {1}
    assert report.sent[1] + report.dropped == 5_000
    assert report.is_whole


def test_nothing_more_is_computed_when_no_node_wants_more(make: Callable[..., Nodes]) -> None:
    nodes = make(2)
    for inbox in nodes.inboxes:
        inbox.stop()
    computed = 0

    def endless() -> Iterator[pa.RecordBatch]:
        nonlocal computed
        while True:
            computed += 1
            yield from batches(1000)

    report = feed(nodes.plan(), endless())
    assert not report.is_whole
    assert report.sent == {}


def test_a_feeder_does_not_wait_for_a_node_that_is_gone(make: Callable[..., Nodes]) -> None:
    nodes = make(2)
    nodes.servers[0].close()
    report = feed(nodes.plan(), 5_000, partition=0)
    assert report.sent[1] + report.dropped == 5_000


def test_a_connection_that_breaks_fails_the_attempt_and_the_next_one_is_exact(
    make: Callable[..., Nodes], aside: Callable[..., Future[PartitionReport]]
) -> None:
    nodes = make(1, limit_bytes=8 * 5_000)
    with ExitStack() as resources:
        relay = Relay(nodes.servers[0].endpoint.port, resources)
        (node,) = nodes.plan().nodes
        there = dataclasses.replace(node.endpoint, port=relay.port)
        plan = FeedPlan(feed=0, epoch=0, nodes=(dataclasses.replace(node, endpoint=there),), signer=SIGNER)
        first = aside(plan, 50_000, host="far", attempt=1)
        wait_until(lambda: nodes.inboxes[0].level.blocked == 1, "the node is full", SECONDS)
        relay.cut()
        with pytest.raises(PeerGone):
            first.result(SECONDS)
        second = aside(plan, 50_000, host="far", attempt=2)
        assert sorted(nodes.draw_until(second)) == list(range(50_000))
        report = second.result(SECONDS)
    assert report.skipped >= 5_000
    assert report.skipped + sum(report.sent.values()) == 50_000


@pytest.mark.skipif(sys.platform != "linux", reason="processes of other systems key no such memory")
def test_a_task_uses_the_buffer_of_the_one_before_it(make: Callable[..., Nodes]) -> None:
    plan, buffers = make(2).plan(), BufferPool()
    names = set()
    for partition in range(3):
        feed(plan, 5_000, partition=partition, buffers=buffers)
        with buffers.lend(plan.nodes, is_near=True) as lent:
            assert lent.buffer is not None
            names.add(str(lent.buffer.name))
            lent.is_settled = True
    assert len(names) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="processes of other systems key no such memory")
def test_a_buffer_is_not_used_again_when_a_node_wanted_no_more(make: Callable[..., Nodes]) -> None:
    nodes, buffers = make(2), BufferPool()
    with buffers.lend(nodes.plan().nodes, is_near=True) as lent:
        assert lent.buffer is not None
        name = lent.buffer.name
        lent.is_settled = True
    nodes.inboxes[0].stop()
    feed(nodes.plan(), 5_000, buffers=buffers)
    with buffers.lend(nodes.plan().nodes, is_near=True) as lent:
        assert lent.buffer is not None
        assert lent.buffer.name != name


def pouring_threads() -> list[str]:
    """Returns the names of the threads of this process that send pieces."""
    return [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith(("hopyard-wire-exchange rows of", "hopyard-feed-"))
    ]


def test_a_partition_that_a_node_refuses_leaves_no_thread_behind(make: Callable[..., Nodes]) -> None:
    nodes = make(1)
    nodes.inboxes[0].stop()
    report = feed(nodes.plan(), 5_000)
    assert not report.is_whole
    wait_until(lambda: not pouring_threads(), "no thread sends any more", SECONDS)


def test_an_attempt_that_a_later_one_replaced_leaves_no_thread_behind(
    make: Callable[..., Nodes], aside: Callable[..., Future[PartitionReport]]
) -> None:
    nodes = make(1, limit_bytes=8 * 5_000)
    first = aside(nodes.plan(), 400_000, attempt=1)
    wait_until(lambda: bool(nodes.inboxes[0].level.blocked), "the node is full", SECONDS)
    second = aside(nodes.plan(), 400_000, attempt=2)
    with pytest.raises(Superseded):
        first.result(SECONDS)
    nodes.draw_until(second)
    wait_until(lambda: not pouring_threads(), "no thread sends any more", SECONDS)
