"""What a node's feed takes from those who have its token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.errors import RemoteError, RowsRefused
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.member import LockstepGroups
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.service import BEGIN, FeedService, infer_stream, train_stream
from hopyard.feed.pieces import Piece, pack
from hopyard.feed.signed_rows import RowSigner
from hopyard.wire import Tagged, WireClient, WireServer

pytestmark = pytest.mark.unit

SECONDS = 20.0
SIGNER = RowSigner.new()


@dataclass(frozen=True)
class Touches:
    """Makes a file when it is unpickled: code that a stranger has run."""

    path: Path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    inbox = Inbox()
    yield inbox
    inbox.stop()


@pytest.fixture
def client(inbox: Inbox, tmp_path: Path) -> Iterator[WireClient]:
    """Returns somebody who has the token of the node's feed."""
    service = FeedService(inbox, StoredRows(tmp_path), EpochCache(inbox, tmp_path), LockstepGroups(), SIGNER)
    with (
        WireServer(service, address="127.0.0.1", close_timeout=2) as server,
        WireClient(server.endpoint, stream_timeout=SECONDS) as client,
    ):
        yield client


def begin(client: WireClient, *, pickled: bool) -> None:
    """Announces a feed, as the driver does."""
    message = {"feed": 0, "epoch": 0, "epochs_left": 1, "ranks": [0], "share": 0}
    client.call(BEGIN, {**message, "hub": asdict(client.endpoint), "pickled": pickled})


def pour(client: WireClient, stream: str, batch: pa.RecordBatch) -> None:
    piece = Piece(batch=batch, start=0, rows=1)
    with client.exchange(stream, batch.schema, [Tagged(batch, piece.tag)]) as answers:
        list(answers)


def rows_of(inbox: Inbox) -> list[object]:
    """Returns what the node's function reads."""
    inbox.end()
    return list(RowFeed(inbox).next_batch(10))


TRAIN = train_stream(PartitionKey(0, 0, 0), 1)
INFER = infer_stream(0, 1, SECONDS)


@pytest.mark.parametrize("signer", [SIGNER, RowSigner.new(), None], ids=["signed", "by another", "unsigned"])
def test_a_pickle_in_the_feed_of_a_data_frame_is_refused_and_never_loaded(
    signer: RowSigner | None, client: WireClient, inbox: Inbox, tmp_path: Path
) -> None:
    begin(client, pickled=False)
    batch = pack([Touches(tmp_path / "owned")])
    with pytest.raises(RemoteError, match="feed 0 has columns, and pickled rows came"):
        pour(client, TRAIN, batch if signer is None else signer.signed(batch))
    assert rows_of(inbox) == []
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (lambda rows: rows, "no signature"),
        (RowSigner.new().signed, "another key"),
        (
            lambda rows: SIGNER.signed(rows).replace_schema_metadata({"hopyard.rows": "columns"}),
            "columns came",
        ),
        (lambda rows: altered(SIGNER.signed(rows)), "another key"),
    ],
    ids=["unsigned", "by another", "as columns", "altered"],
)
def test_the_feed_of_an_rdd_takes_only_pickles_with_the_signature_of_its_run(
    batch: Callable[[pa.RecordBatch], pa.RecordBatch],
    reason: str,
    client: WireClient,
    inbox: Inbox,
    tmp_path: Path,
) -> None:
    begin(client, pickled=True)
    with pytest.raises(RemoteError, match=reason):
        pour(client, TRAIN, batch(pack([Touches(tmp_path / "owned")])))
    assert rows_of(inbox) == []
    assert not (tmp_path / "owned").exists()


def altered(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Returns signed rows with one more byte."""
    data = batch.column(0)[0].as_py() + b"."
    return pa.record_batch([pa.array([data], pa.large_binary()), batch.column(1)], schema=batch.schema)


def test_signed_rows_of_an_rdd_arrive(client: WireClient, inbox: Inbox) -> None:
    begin(client, pickled=True)
    pour(client, TRAIN, SIGNER.signed(pack(["a row"])))
    assert rows_of(inbox) == ["a row"]


def test_a_pickle_without_signature_that_wants_results_is_refused_and_never_loaded(
    client: WireClient, tmp_path: Path
) -> None:
    with pytest.raises(RemoteError, match="no signature"):
        pour(client, INFER, pack([Touches(tmp_path / "owned")]))
    assert not (tmp_path / "owned").exists()


def test_a_task_loads_no_results_that_a_stranger_has_pickled(tmp_path: Path) -> None:
    with pytest.raises(RowsRefused, match="another key"):
        SIGNER.opened(RowSigner.new().signed(pack([Touches(tmp_path / "owned")])))
    assert not (tmp_path / "owned").exists()


def test_the_key_is_not_shown() -> None:
    assert repr(SIGNER) == "RowSigner()"
