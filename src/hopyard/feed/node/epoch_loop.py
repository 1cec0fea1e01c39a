"""Loops over the epochs of a feed: each begins an epoch at its first row, and only one goes on at a time."""

from __future__ import annotations

import threading

from hopyard.errors import BadArguments
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.rows import Rows

_TWO_LOOPS = (
    "two loops read this feed at the same time, so that each gets rows that the other lacks; use one loop, whose batches "
    "have all columns"
)


class LoopGate:
    """Lets one loop at a time read a feed, from whichever thread: the one that began last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: EpochLoop | None = None


class EpochLoop:
    """A loop over one epoch; it has begun.

    Args:
        feed: The rows.
        gate: Of the feed; its lock is held by whoever makes a loop.
        rows: How many rows a batch has.
    """

    def __init__(self, feed: RowFeed, gate: LoopGate, rows: int) -> None:
        self._feed = feed
        self._gate = gate
        self._rows = rows
        gate.loop = self

    def batch(self) -> Rows:
        """Returns the next batch; none after the last.

        Raises:
            BadArguments: Another loop has begun meanwhile.
        """
        with self._gate.lock:
            self._check()
            return self._feed.epoch_batch(self._rows)

    def end(self) -> int:
        """Passes the end of the epoch, once whoever loops asks for more; returns how many epochs have been read.

        Raises:
            NoMoreEpochs: All epochs have been read, and nothing more will come.
            BadArguments: Another loop has begun meanwhile.
        """
        with self._gate.lock:
            self._check()
            self._feed.end_epoch(self._rows)
            return self._feed.epochs_read

    def _check(self) -> None:
        if self._gate.loop is not self:
            raise BadArguments("feed", _TWO_LOOPS)
