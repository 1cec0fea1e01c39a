"""The way of the batches of a stream into the nodes, which can be closed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hopyard.errors import StreamClosed
from hopyard.feed.account import EpochAccount
from hopyard.feed.driver.sources import Source


class BatchGate:
    """Lets the batches of a stream through to the nodes, one at a time, until it is closed.

    Args:
        feed: Feeds a batch with its number.
    """

    def __init__(self, feed: Callable[[Source, int], EpochAccount]) -> None:
        self._feed = feed
        self._closed = threading.Event()
        self._under_way = threading.Lock()
        self.error: BaseException | None = None
        self.batches = 0
        self.rows = 0

    @property
    def is_closed(self) -> bool:
        """Whether no further batch is let through; one may still be under way."""
        return self._closed.is_set()

    @property
    def is_quiet(self) -> bool:
        """Whether it is closed and no batch is under way."""
        return self._closed.is_set() and not self._under_way.locked()

    def close(self) -> None:
        """Lets no further batch through."""
        self._closed.set()

    def let_through(self, source: Source, number: int) -> None:
        """Feeds a batch.

        Raises:
            StreamClosed: It was not fed, or not to its end, because nobody wants it.
            HopyardError: It could not be fed; which closes the gate.
        """
        with self._under_way:
            if self._closed.is_set():
                raise StreamClosed(number)
            try:
                account = self._feed(source, number)
            except BaseException as error:
                self.error = error
                self.close()
                raise
            if not account.is_whole:
                self.close()
                raise StreamClosed(number)
            self.batches += 1
            self.rows += account.rows
