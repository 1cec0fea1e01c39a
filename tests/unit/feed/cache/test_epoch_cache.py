from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.level import EpochEnd
from hopyard.feed.pieces import Piece
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.unit

SECONDS = 10


def piece(start: int) -> Piece:
    batch = pa.record_batch({"x": pa.array(range(start, start + 100), pa.int64())})
    return Piece(batch=batch, start=start, rows=100)


def drawn(inbox: Inbox) -> list[int]:
    found: list[int] = []
    inbox.end()
    while (some := inbox.draw()) is not None:
        if isinstance(some, Piece):
            found += some.batch.column("x").to_pylist()
        elif isinstance(some, EpochEnd):
            found.append(-some.rows)
    return found


def test_later_epochs_are_read_again_from_disk(tmp_path: Path) -> None:
    inbox = Inbox()
    keeping = EpochCache(inbox, tmp_path)
    keeping.begin(3, share=1.0)
    for start in (0, 100):
        keeping.append(3, piece(start))
    assert keeping.seal(3)
    keeping.replay(range(1, 3), seed=None)
    wait_until(lambda: keeping.progress.is_done, "both epochs are read", SECONDS)
    assert keeping.progress.rows == (200, 200)
    assert drawn(inbox) == [*range(200), -200, *range(200), -200]  # and where each ends
    keeping.close()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_belongs_to_another_feed_is_not_kept(tmp_path: Path) -> None:
    keeping = EpochCache(Inbox(), tmp_path)
    keeping.append(0, piece(0))
    keeping.begin(1, share=1.0)
    keeping.append(0, piece(0))
    assert not keeping.seal(0)
    keeping.close()


def test_what_does_not_fit_is_not_whole(tmp_path: Path) -> None:
    keeping = EpochCache(Inbox(), tmp_path)
    keeping.begin(0, share=1e-12)
    keeping.append(0, piece(0))
    assert not keeping.seal(0)
    keeping.close()


def test_a_stop_ends_the_reading(tmp_path: Path) -> None:
    inbox = Inbox(limit_bytes=1)
    keeping = EpochCache(inbox, tmp_path)
    keeping.begin(0, share=1.0)
    for start in (0, 100):
        keeping.append(0, piece(start))
    keeping.seal(0)
    keeping.replay(range(1, 1000), seed=3)
    wait_until(lambda: inbox.level.blocked == 1, "the inbox is full", SECONDS)
    inbox.stop()
    wait_until(lambda: keeping.progress.is_done, "the reading ends", SECONDS)
    assert keeping.progress.error == ""
    keeping.close()
