"""What waits in a node to be consumed: bounded in bytes, with an account of all that came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

from hopyard.feed.ledger import Ledger, Share
from hopyard.feed.pieces import Piece
from hopyard.feed.ranges import Ranges

INBOX_BYTES = 64 << 20


class Taken(Enum):
    """What became of a piece that was brought."""

    KEPT = "kept"
    STOPPED = "stopped"  # the node wants nothing more
    BARRED = "barred"  # another attempt brings these rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How an inbox is doing.

    Attributes:
        received: Rows that have come.
        consumed: Rows that were drawn.
        waiting: Rows that wait to be drawn.
        blocked: Pieces whose senders wait for room.
        is_stopped: Whether nothing more is wanted.
    """

    received: int
    consumed: int
    waiting: int
    blocked: int
    is_stopped: bool


class Inbox:
    """Takes pieces from many threads and hands them to the training function, in the order of their coming.

    Args:
        limit_bytes: How much may wait; a piece that is bigger waits alone.
    """

    def __init__(self, *, limit_bytes: int = INBOX_BYTES) -> None:
        self._limit = limit_bytes
        self._changed = threading.Condition()
        self._ledger = Ledger()
        self._pieces: deque[Piece] = deque()
        self._bytes = 0
        self._received = 0
        self._waiting = 0
        self._blocked = 0
        self._ended = False
        self._stopped = False

    def put(self, piece: Piece, share: Share, attempt: int) -> Taken:
        """Keeps a piece of a partition once there is room for it."""
        size = piece.batch.nbytes
        with self._changed:
            self._wait_for_room(size, lambda: self._ledger.is_barred(share, attempt))
            if self._stopped:
                return Taken.STOPPED
            if self._ledger.is_barred(share, attempt):
                return Taken.BARRED
            self._ledger.take(share, piece.start, piece.rows)
            self._add(piece, size)
            return Taken.KEPT

    def replay(self, piece: Piece) -> Taken:
        """Keeps a piece that was here before, in an earlier epoch."""
        size = piece.batch.nbytes
        with self._changed:
            self._wait_for_room(size, lambda: False)
            if self._stopped:
                return Taken.STOPPED
            self._add(piece, size)
            return Taken.KEPT

    def draw(self) -> Piece | None:
        """Returns the next piece; None once there is none and none will come.

        This waits as long as the node has a lease: who feeds it may take his time.
        """
        with self._changed:
            while not self._pieces:
                if self._ended or self._stopped:
                    return None
                self._changed.wait()
            piece = self._pieces.popleft()
            self._bytes -= piece.batch.nbytes
            self._waiting -= piece.rows
            self._changed.notify_all()
            return piece

    def open(self, share: Share, attempt: int) -> bool:
        """Takes note that an attempt begins; returns whether it may not be the first one of its share."""
        with self._changed:
            return self._ledger.open(share, attempt)

    def claim(self, share: Share, attempt: int) -> Ranges:
        """Gives a share to an attempt alone; returns the rows of it that are here."""
        with self._changed:
            taken = Ranges(self._ledger.claim(share, attempt))
            self._changed.notify_all()  # those that wait with pieces of an older attempt
            return taken

    def counts(self, feed: int, epoch: int) -> dict[int, int]:
        """Returns how many rows of an epoch came, by partition."""
        with self._changed:
            return dict(self._ledger.counts(feed, epoch))

    def forget(self, feed: int, epoch: int) -> None:
        """Drops the account of an epoch, which is over."""
        with self._changed:
            self._ledger.forget(feed, epoch)

    def end(self) -> None:
        """Takes note that nothing more will come; what waits can still be drawn."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Refuses whatever still comes, and throws away what waits."""
        with self._changed:
            self._stopped = True
            self._pieces.clear()
            self._bytes = self._waiting = 0
            self._changed.notify_all()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to draw, and nothing will come."""
        with self._changed:
            return self._stopped or (self._ended and not self._pieces)

    @property
    def level(self) -> Level:
        """How it is doing right now."""
        with self._changed:
            return Level(
                received=self._received,
                consumed=self._received - self._waiting,
                waiting=self._waiting,
                blocked=self._blocked,
                is_stopped=self._stopped,
            )

    def _wait_for_room(self, size: int, is_pointless: Callable[[], bool]) -> None:
        with self._blocking():
            while (
                self._bytes and self._bytes + size > self._limit and not self._stopped and not is_pointless()
            ):
                self._changed.wait()

    @contextmanager
    def _blocking(self) -> Iterator[None]:
        self._blocked += 1
        try:
            yield
        finally:
            self._blocked -= 1

    def _add(self, piece: Piece, size: int) -> None:
        self._pieces.append(piece)
        self._bytes += size
        self._received += piece.rows
        self._waiting += piece.rows
        self._changed.notify_all()
