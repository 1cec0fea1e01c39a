"""What a node keeps of a feed for its later epochs, and how these go into the inbox."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from hopyard.feed.cache.epoch_store import EpochStore, default_limit
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.level import Taken
from hopyard.feed.pieces import Piece

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayProgress:
    """How far the later epochs are.

    Attributes:
        rows: Rows of each epoch that is over.
        is_done: Whether no more will come.
        error: Why not, if something went wrong.
    """

    rows: tuple[int, ...] = ()
    is_done: bool = False
    error: str = ""


class EpochCache:
    """Keeps the pieces of one feed at a time; leaving its context removes them.

    Args:
        inbox: Where they go when they are read again.
        folder: Place of the files.
    """

    def __init__(self, inbox: Inbox, folder: Path) -> None:
        self._inbox = inbox
        self._folder = folder
        self._lock = threading.Lock()
        self._feed = -1
        self._store: EpochStore | None = None
        self._progress = ReplayProgress()

    def begin(self, feed: int, share: float) -> None:
        """Keeps what comes of a feed, and forgets what there was.

        Args:
            feed: Number of the feed.
            share: How much of what is left of the disk it may take.
        """
        self.close()
        with self._lock:
            self._feed = feed
            self._progress = ReplayProgress()
            limit = int(share * default_limit(self._folder))
            self._store = EpochStore(self._folder / f"feed-{feed}", limit_bytes=limit)

    def append(self, feed: int, piece: Piece) -> None:
        """Keeps a piece, if those of its feed are kept."""
        store = self._store
        if store is not None and self._feed == feed:
            store.append(piece.batch, piece.rows)

    def seal(self, feed: int) -> bool:
        """Returns whether all pieces of a feed are here; no more come."""
        with self._lock:
            if self._store is None or self._feed != feed:
                return False
            self._store.seal()
            return self._store.is_whole

    def replay(self, epochs: range, seed: int | None) -> None:
        """Puts all pieces into the inbox again, once for each epoch; returns at once."""
        assert self._store is not None
        threading.Thread(
            target=self._replay, args=(self._store, epochs, seed), name="hopyard-replay", daemon=True
        ).start()

    @property
    def progress(self) -> ReplayProgress:
        """How far the later epochs are."""
        return self._progress

    @property
    def replayed(self) -> tuple[int, int, int]:
        """The feed that is kept, how many of its epochs were read again, and how many rows each of them has."""
        rows = self._progress.rows
        return self._feed, len(rows), rows[-1] if rows else 0

    def close(self) -> None:
        """Removes what was kept."""
        with self._lock:
            if self._store is not None:
                self._store.__exit__(None, None, None)
            self._store = None

    def _replay(self, store: EpochStore, epochs: range, seed: int | None) -> None:
        rows: list[int] = []
        error = ""
        try:
            for epoch in epochs:
                taken, count = self._replay_once(store, epoch, seed)
                if taken is not Taken.KEPT:
                    break
                rows.append(count)
                # first, so that it is known when the function that reads the last epoch returns
                self._progress = ReplayProgress(rows=tuple(rows))
                self._inbox.end_epoch(self._feed, epoch)
        except Exception as problem:
            # the edge of a thread: the driver asks, and is told
            LOG.exception("rows could not be read again")
            error = f"{type(problem).__name__}: {problem}"
        self._progress = ReplayProgress(rows=tuple(rows), is_done=True, error=error)

    def _replay_once(self, store: EpochStore, epoch: int, seed: int | None) -> tuple[Taken, int]:
        start = 0
        for batch, rows in store.replay(epoch=epoch, seed=seed):
            taken = self._inbox.replay(Piece(batch=batch, start=start, rows=rows))
            if taken is not Taken.KEPT:
                return taken, start
            start += rows
        return Taken.KEPT, start
