"""Rows of the queues of a manager, and those of a node's feed, in batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from multiprocessing.managers import RemoteError

import pytest

from hopyard.errors import BadArguments, NotFed, NotOffered, WrongResults
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.inference_request import InferenceRequest
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.pieces import Piece, pack
from hopyard.feed.results import decode
from hopyard.run.data_feed import DataFeed
from tensorflowonspark import TFManager, TFNode
from tensorflowonspark.marker import EndPartition, Marker
from tensorflowonspark.node_manager import NodeManager

pytestmark = pytest.mark.unit

QUEUES = ("input", "output", "error")


@pytest.fixture(scope="module")
def server() -> Iterator[TFManager.TFManager]:
    names = [f"{side}{number}" for side in ("input", "output") for number in range(20)]
    manager = TFManager.start("secret", names)
    yield manager
    manager.shutdown()


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return iter(range(20))


@pytest.fixture
def number(numbers: Iterator[int]) -> int:
    """The number of queues that no other test has used."""
    return next(numbers)


def queue_feed(server, number: int, items: Sequence[object], **options: object) -> TFNode.DataFeed:
    rows = server.get_queue(f"input{number}")
    for item in items:
        rows.put(item)
    return TFNode.DataFeed(server, qname_in=f"input{number}", qname_out=f"output{number}", **options)


class Node:
    """A node with what Spark's tasks would have sent to it."""

    def __init__(self, queues: Sequence[str] = QUEUES) -> None:
        self.inbox = Inbox()
        self.mgr = NodeManager(queues, lambda: DataFeed(self.inbox))
        self._partitions = 0

    def train(self, *rows: object) -> None:
        piece = Piece(batch=pack(list(rows)), start=0, rows=len(rows))
        self.inbox.put(piece, PartitionKey(0, 0, self._partitions), 0)
        self._partitions += 1

    def ask(self, *rows: object) -> InferenceRequest:
        inquiry = self.inbox.new_request("partition 0")
        self.inbox.ask(inquiry, Piece(batch=pack(list(rows)), start=0, rows=len(rows)))
        self.inbox.complete(inquiry)
        return inquiry


def answers(inquiry: InferenceRequest) -> list[object]:
    found: list[object] = []
    while (batch := inquiry.next_answer(5)) is not None:
        found.extend(decode(batch))
    return found


@pytest.fixture
def node() -> Node:
    return Node()


def test_rows_of_a_queue_come_in_batches_up_to_none(server, number):
    feed = queue_feed(server, number, [*range(10), None])
    assert [feed.next_batch(2), feed.next_batch(4)] == [[0, 1], [2, 3, 4, 5]]
    assert not feed.done_feeding
    assert feed.next_batch(10) == [6, 7, 8, 9]
    assert feed.should_stop()
    assert feed.next_batch(10) == []


def test_the_end_of_a_partition_does_not_end_a_batch_to_train_on(server, number):
    feed = queue_feed(server, number, [1, 2, EndPartition(), 3, None])
    assert feed.next_batch(3) == [1, 2, 3]


def test_the_end_of_a_partition_ends_a_batch_that_wants_results(server, number):
    feed = queue_feed(server, number, [1, 2, EndPartition(), EndPartition(), 3, None], train_mode=False)
    assert [feed.next_batch(3), feed.next_batch(3)] == [[1, 2], [3]]
    assert feed.should_stop()


def test_results_go_to_their_queue_one_by_one(server, number):
    queue_feed(server, number, [], train_mode=False).batch_results(["a", "b"])
    results = server.get_queue(f"output{number}")
    assert [results.get(), results.get()] == ["a", "b"]


def test_whoever_waits_for_a_queue_goes_on_when_its_rows_are_read(server, number):
    feed = queue_feed(server, number, [1, EndPartition(), None])
    feed.next_batch(10)
    waiting = threading.Thread(target=server.get_queue(f"input{number}").join, daemon=True)
    waiting.start()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_terminated_queue_is_emptied_and_the_state_tells_of_it(server, number):
    feed = queue_feed(server, number, [1, 2, 3])
    feed.terminate()
    assert server.get_queue(f"input{number}").empty()
    assert str(server.get("state")) == "'terminating'"
    assert feed.should_stop()


def test_a_queue_that_the_manager_has_not_is_refused(server):
    with pytest.raises(RemoteError, match="'nothing' is none of the queues"):
        TFNode.DataFeed(server, qname_in="nothing", qname_out="output0")


def test_a_mapping_of_columns_makes_tensors_of_rows(server, number):
    feed = queue_feed(server, number, [(1, "a"), (2, "b"), None], input_mapping={"label": "y_", "image": "x"})
    assert feed.input_tensors == ["x", "y_"]
    assert feed.next_batch(5) == {"x": [1, 2], "y_": ["a", "b"]}


def test_markers_are_told_from_rows_by_their_class():
    assert issubclass(EndPartition, Marker)


def test_rows_that_spark_feeds_come_in_batches_across_partitions(node):
    node.train(1, 2)
    node.train(3)
    node.inbox.end()
    feed = TFNode.DataFeed(node.mgr)
    assert [feed.next_batch(2), feed.should_stop()] == [[1, 2], False]
    assert [feed.next_batch(2), feed.should_stop()] == [[3], True]
    assert feed.next_batch(2) == []


def test_a_mapping_works_for_rows_that_spark_feeds(node):
    node.train((1, "a"), (2, "b"))
    node.inbox.end()
    feed = TFNode.DataFeed(node.mgr, input_mapping={"b": "y", "a": "x"})
    assert feed.next_batch(5) == {"x": [1, 2], "y": ["a", "b"]}
    assert feed.next_batch(5) == {"x": [], "y": []}


def test_all_feeds_of_a_node_read_the_same_rows(node):
    node.train(1, 2, 3)
    assert TFNode.DataFeed(node.mgr).next_batch(1) == [1]
    assert TFNode.DataFeed(node.mgr).next_batch(2) == [2, 3]


def test_threads_that_read_at_once_get_different_rows(node):
    for first in range(0, 900, 9):
        node.train(*range(first, first + 9))
    node.inbox.end()
    feed = TFNode.DataFeed(node.mgr)
    got: list[int] = []
    readers = [
        threading.Thread(target=lambda: [got.extend(batch) for batch in iter(lambda: feed.next_batch(2), [])])
        for _ in range(4)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(20)
    assert sorted(got) == list(range(900))


def test_results_return_in_the_order_of_the_rows(node):
    inquiry = node.ask(1, 2, 3)
    feed = TFNode.DataFeed(node.mgr, train_mode=False)
    for _ in range(2):
        feed.batch_results([row * row for row in feed.next_batch(2)])
    assert answers(inquiry) == [1, 4, 9]


@pytest.mark.parametrize("lots", [[[1], [4], [9]], [[1, 4, 9]], [[], [1, 4], [9]]])
def test_results_need_not_come_in_batches_like_those_of_the_rows(node, lots):
    inquiry = node.ask(1, 2, 3)
    feed = TFNode.DataFeed(node.mgr, train_mode=False)
    assert [feed.next_batch(2), feed.next_batch(2)] == [[1, 2], [3]]
    for lot in lots:
        feed.batch_results(lot)
    assert answers(inquiry) == [1, 4, 9]


def test_results_are_taken_while_another_thread_waits_for_rows(node):
    inquiry = node.ask(1)
    feed = TFNode.DataFeed(node.mgr, train_mode=False)
    assert feed.next_batch(1) == [1]
    reader = threading.Thread(target=feed.next_batch, args=(1,), daemon=True)
    reader.start()
    feed.batch_results(["one"])
    assert answers(inquiry) == ["one"]
    feed.terminate()
    reader.join(10)
    assert not reader.is_alive()


def test_more_results_than_rows_are_an_error(node):
    node.ask(1)
    feed = TFNode.DataFeed(node.mgr, train_mode=False)
    feed.next_batch(1)
    with pytest.raises(WrongResults):
        feed.batch_results([1, 2])


def test_a_function_that_says_train_mode_may_return_results_all_the_same(node):
    inquiry = node.ask(1, 2)
    feed = TFNode.DataFeed(node.mgr)
    feed.batch_results([row * row for row in feed.next_batch(5)])
    assert answers(inquiry) == [1, 4]


@pytest.mark.parametrize("how", ["terminate", "state"])
def test_a_terminated_feed_wants_no_more_rows(node, how):
    node.train(1, 2, 3)
    feed = TFNode.DataFeed(node.mgr)
    assert feed.next_batch(1) == [1]
    if how == "terminate":
        feed.terminate()
    else:
        node.mgr.set("state", "terminating")
    assert str(node.mgr.get("state")) == "'terminating'"
    assert feed.should_stop()
    assert feed.next_batch(1) == []
    assert node.inbox.level.is_stopped


def test_a_node_keeps_values_under_names(node):
    assert node.mgr.get("state") == "running"
    node.mgr.set("steps", 7)
    assert node.mgr.get("steps")._getvalue() == 7
    assert str(node.mgr.get("state")) == "'running'"
    with pytest.raises(KeyError):
        node.mgr.get("nothing")


def test_the_queues_of_a_node_are_its_feed(node):
    inquiry = node.ask(1, 2)
    rows, results = node.mgr.get_queue("input"), node.mgr.get_queue("output")
    for _ in range(2):
        results.put(10 * rows.get(block=True))
        rows.task_done()
    assert answers(inquiry) == [10, 20]
    node.inbox.close(inquiry)
    node.inbox.end()
    assert rows.get() is None


def test_a_queue_of_a_node_cannot_be_looked_into(node):
    with pytest.raises(NotOffered, match="without waiting"):
        node.mgr.get_queue("input").get(block=False)


def test_errors_are_raised_and_not_put_into_a_queue(node):
    with pytest.raises(NotOffered, match="raise"):
        node.mgr.get_queue("error")


def test_a_queue_that_the_cluster_has_not_is_refused(node):
    with pytest.raises(BadArguments, match="'inptu' is none of the cluster's: input, output, error"):
        TFNode.DataFeed(node.mgr, qname_in="inptu")
    with pytest.raises(BadArguments, match="'results'"):
        TFNode.DataFeed(node.mgr, qname_out="results")


def test_the_feed_may_have_another_name_but_not_two():
    node = Node(("rows", "output", "more"))
    node.train(1)
    assert TFNode.DataFeed(node.mgr, qname_in="rows").next_batch(1) == [1]
    with pytest.raises(NotOffered, match="reads from 'rows' already"):
        TFNode.DataFeed(node.mgr, qname_in="more")


def test_a_node_that_is_not_fed_says_what_to_change():
    with pytest.raises(NotFed, match=r"input_mode=InputMode\.SPARK"):
        TFNode.DataFeed(NodeManager(QUEUES))
