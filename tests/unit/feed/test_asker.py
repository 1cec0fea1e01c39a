"""Tasks that ask for results, against a real server of a node, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.errors import RemoteError
from hopyard.feed.asker import AskPlan, ask
from hopyard.feed.in_step import Round
from hopyard.feed.inbox import Inbox
from hopyard.feed.keeping import Keeping
from hopyard.feed.pieces import PICKLED_SCHEMA, Piece
from hopyard.feed.remote import FeedNode
from hopyard.feed.service import FeedService
from hopyard.feed.shelves import Shelves
from hopyard.wire import WireServer

pytestmark = pytest.mark.unit

SECONDS = 60.0


@pytest.fixture
def plan(tmp_path: Path) -> Iterator[AskPlan]:
    inbox = Inbox()
    service = FeedService(inbox, Keeping(inbox, tmp_path), Round())
    with WireServer(service, address="127.0.0.1", close_timeout=2) as server:
        yield AskPlan(nodes=(FeedNode(rank=0, host="here", endpoint=server.endpoint),), seconds=SECONDS)
        inbox.stop()


@pytest.mark.timeout(SECONDS / 2)
@pytest.mark.parametrize("host", ["here", "elsewhere"])
def test_rows_that_cannot_be_read_are_told_at_once(plan: AskPlan, host: str) -> None:
    rows = pa.record_batch([pa.array([b"this is no pickle"], pa.large_binary())], schema=PICKLED_SCHEMA)
    with pytest.raises(RemoteError, match="UnpicklingError"):
        list(ask(plan, 0, [Piece(batch=rows, start=0, rows=1)], stage=1, shelves=Shelves(), host=host))
