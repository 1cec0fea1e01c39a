"""The rows that Spark feeds to a node."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hopyard.errors import NotFed

if TYPE_CHECKING:
    from hopyard.run.data_feed import DataFeed


class FedRows:
    """Rows of the node's feed; all data feeds of a node draw from one of these.

    Any thread may read while another one hands in results, or stops the feed.

    Args:
        open_feed: Returns the feed; called when it is first used, as nodes that are not fed never do.
    """

    def __init__(self, open_feed: Callable[[], DataFeed]) -> None:
        self._open_feed = open_feed
        self._opened: DataFeed | None = None
        self._opening = threading.Lock()
        self._taking = threading.Lock()
        self._answering = threading.Lock()
        self._unanswered: deque[int] = deque()
        self._results: list[object] = []

    @property
    def is_done(self) -> bool:
        """Whether all rows have been taken and no more will come."""
        return self._feed.should_stop()

    def take(self, count: int, *, train_mode: bool) -> list[object]:
        """Returns the next rows; fewer at the end of the feed, and at that of a partition that wants results."""
        with self._taking:
            rows = list(self._feed.next_batch(count))
            if rows and not train_mode:
                self._unanswered.append(len(rows))
            return rows

    def answer(self, results: Iterable[object]) -> None:
        """Hands in results, which need not be in batches like those of the rows.

        Raises:
            WrongResults: There are more than rows that were taken.
        """
        with self._answering:
            self._results.extend(results)
            while self._unanswered and len(self._results) >= self._unanswered[0]:
                self._hand_in(self._unanswered.popleft())
            if self._results and not self._unanswered:
                # for rows that were taken to train on; if there were none, the feed says so
                self._hand_in(len(self._results))

    def stop(self) -> None:
        """Refuses the rows that are left."""
        self._feed.terminate()

    def _hand_in(self, count: int) -> None:
        ready, self._results = self._results[:count], self._results[count:]
        self._feed.batch_results(ready)

    @property
    def _feed(self) -> DataFeed:
        with self._opening:
            if self._opened is None:
                try:
                    self._opened = self._open_feed()
                except NotFed as error:
                    raise NotFed("a data feed", error.reason) from None
            return self._opened
