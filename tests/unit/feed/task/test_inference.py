"""Tasks that ask for results, against a real server of a node, without Spark."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.errors import BadArguments, RemoteError
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.member import LockstepGroups
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.service import FeedService
from hopyard.feed.pieces import PICKLED_SCHEMA, Piece, cut_rows
from hopyard.feed.remote import FeedNode
from hopyard.feed.results import decode
from hopyard.feed.shared_memory.buffer import BufferName
from hopyard.feed.shared_memory.pool import BufferPool
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.task.inference import InferencePlan, ask
from hopyard.wire import WireServer

pytestmark = pytest.mark.unit

SECONDS = 60.0
SIGNER = RowSigner.new()
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="processes of other systems share no such memory"
)


def unreadable() -> Piece:
    rows = pa.record_batch([pa.array([b"this is no pickle"], pa.large_binary())], schema=PICKLED_SCHEMA)
    return Piece(batch=rows, start=0, rows=1)


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def plan(inbox: Inbox, tmp_path: Path) -> Iterator[InferencePlan]:
    service = FeedService(inbox, StoredRows(tmp_path), EpochCache(inbox, tmp_path), LockstepGroups(), SIGNER)
    with WireServer(service, address="127.0.0.1", close_timeout=2) as server:
        node = FeedNode(rank=0, host="here", endpoint=server.endpoint)
        yield InferencePlan(nodes=(node,), seconds=SECONDS, signer=SIGNER)
        inbox.stop()


def buffer_name(buffers: BufferPool, plan: InferencePlan) -> BufferName:
    """Returns the name of the buffer that the next task would get."""
    with buffers.lend(plan.nodes, is_near=True) as lent:
        assert lent.buffer is not None
        lent.is_settled = True
        return lent.buffer.name


def answer_all(inbox: Inbox) -> None:
    """What a node does: returns the rows that it gets."""
    feed = RowFeed(inbox)
    while rows := feed.next_batch(10):
        feed.batch_results(rows)


@on_linux
@pytest.mark.timeout(SECONDS / 2)
def test_a_task_that_got_its_results_leaves_its_buffer_to_the_next(plan: InferencePlan, inbox: Inbox) -> None:
    buffers = BufferPool()
    name = buffer_name(buffers, plan)
    node = threading.Thread(target=answer_all, args=(inbox,), daemon=True)
    node.start()
    results = ask(
        plan, 0, cut_rows(range(100), piece_bytes=100), stage=1, buffers=buffers, fit=decode, host="here"
    )
    assert [row for rows in results for row in rows] == list(range(100))
    assert buffer_name(buffers, plan) == name
    inbox.stop()
    node.join(SECONDS / 4)
    assert not node.is_alive()


@on_linux
@pytest.mark.timeout(SECONDS / 2)
def test_a_task_that_did_not_gives_its_buffer_up(plan: InferencePlan) -> None:
    buffers = BufferPool()
    name = buffer_name(buffers, plan)
    with pytest.raises(RemoteError, match="UnpicklingError"):
        list(ask(plan, 0, [unreadable()], stage=1, buffers=buffers, fit=decode, host="here"))
    assert buffer_name(buffers, plan).key != name.key


def refuse(results: pa.RecordBatch) -> pa.RecordBatch:
    raise BadArguments("inference", "the results have the columns a; the schema has b")


@pytest.mark.timeout(SECONDS / 2)
def test_results_that_do_not_fit_are_told_to_the_node_with_the_stage_that_wants_them(
    plan: InferencePlan, inbox: Inbox
) -> None:
    threading.Thread(target=answer_all, args=(inbox,), daemon=True).start()
    for _ in range(2):  # another attempt of the task changes nothing
        with pytest.raises(BadArguments, match="the schema has b"):
            list(ask(plan, 0, cut_rows(range(9)), stage=7, buffers=BufferPool(), fit=refuse, host="here"))
    assert inbox.level.refused == ((7, "the results have the columns a; the schema has b"),)


@pytest.mark.timeout(SECONDS / 2)
@pytest.mark.parametrize("host", ["here", "elsewhere"])
def test_rows_that_cannot_be_read_are_told_at_once(plan: InferencePlan, host: str) -> None:
    with pytest.raises(RemoteError, match="UnpicklingError"):
        list(ask(plan, 0, [unreadable()], stage=1, buffers=BufferPool(), fit=decode, host=host))
