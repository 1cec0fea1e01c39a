from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopyard.errors import PeerGone
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.member import LockstepGroups
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.service import FeedService
from hopyard.feed.pieces import Piece
from hopyard.feed.shared_memory.buffer import UNIT_BYTES, SharedBuffer
from hopyard.feed.shared_memory.transfer import NO_BUFFER, BufferReceiver, BufferSender, placed
from hopyard.feed.signed_rows import RowSigner
from hopyard.wire import WireClient, WireServer

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(sys.platform != "linux", reason="processes of other systems share no such memory"),
]
UNITS = 3
ROWS = 100


@pytest.fixture
def buffer() -> Iterator[SharedBuffer]:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as buffer:
        yield buffer


@pytest.fixture
def client() -> Iterator[WireClient]:
    inbox = Inbox()
    service = FeedService(
        inbox,
        StoredRows(Path(tempfile.gettempdir())),
        EpochCache(inbox, Path(tempfile.gettempdir())),
        LockstepGroups(),
        RowSigner.new(),
    )
    with (
        WireServer(service, address="127.0.0.1", close_timeout=2) as server,
        WireClient(server.endpoint, timeout=20) as client,
    ):
        yield client


def pieces(number: int) -> list[Piece]:
    return [
        Piece(batch=pa.record_batch({"x": np.full(ROWS, each)}), start=each * ROWS, rows=ROWS)
        for each in range(number)
    ]


def test_pieces_on_a_buffer_go_together_with_one_message(client: WireClient, buffer: SharedBuffer) -> None:
    sender = BufferSender(client, buffer)
    (item,) = sender.items([placed(piece, buffer) for piece in pieces(UNITS)])
    assert item.batch.num_rows == 0
    assert list(BufferReceiver(sender.buffer).pieces(item)) == pieces(UNITS)


def test_what_finds_no_room_is_sent_in_its_turn(client: WireClient, buffer: SharedBuffer) -> None:
    sender = BufferSender(client, buffer)
    laid = [placed(piece, buffer) for piece in pieces(UNITS + 2)]
    given = [*laid[3:4], *laid[:3], *laid[4:]]
    items = list(sender.items(given))
    assert [item.batch.num_rows for item in items] == [ROWS, 0, ROWS]
    receiver = BufferReceiver(sender.buffer)
    assert [piece.start // ROWS for item in items for piece in receiver.pieces(item)] == [3, 0, 1, 2, 4]


def test_a_node_that_cannot_reach_the_buffer_is_sent_the_rows(client: WireClient) -> None:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as buffer:
        laid = placed(pieces(1)[0], buffer)
    sender = BufferSender(client, buffer)  # the buffer is gone, as it is to a node that runs elsewhere
    (item,) = sender.items([laid])
    assert sender.buffer == NO_BUFFER
    assert item.batch.num_rows == ROWS
    assert list(BufferReceiver(NO_BUFFER).pieces(item)) == pieces(1)


def test_without_a_buffer_the_rows_are_sent(client: WireClient) -> None:
    piece = pieces(1)[0]
    assert placed(piece, None) is piece
    (item,) = BufferSender(client, None).items([piece])
    assert item.batch is piece.batch


def test_the_rows_of_a_feeder_that_is_gone_are_not_waited_for() -> None:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as buffer:
        name = str(buffer.name)
    with pytest.raises(PeerGone, match="feeder"):
        BufferReceiver(name)
