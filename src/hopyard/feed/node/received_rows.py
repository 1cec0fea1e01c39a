"""What a node has taken in: which rows of which partition, and from which attempt of a Spark task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hopyard.feed.ranges import Ranges


class PartitionKey(NamedTuple):
    """A partition in one epoch of one feed."""

    feed: int
    epoch: int
    partition: int


@dataclass(slots=True)
class _Page:
    """What is known of one partition."""

    attempt: int = -1
    taken: Ranges = field(default_factory=Ranges)


class ReceivedRows:
    """Keeps account of the rows that a node has taken; not for several threads."""

    def __init__(self) -> None:
        self._pages: dict[PartitionKey, _Page] = {}
        self._opened: dict[PartitionKey, int] = {}

    def open(self, key: PartitionKey, attempt: int) -> bool:
        """Records that an attempt begins, at the node that keeps its attempts; returns whether it may not be the first one."""
        return self._opened.setdefault(key, attempt) != attempt

    def claim(self, key: PartitionKey, attempt: int) -> Ranges:
        """Gives a partition to an attempt, whose rows alone are taken from now on; returns what is there of it."""
        page = self._pages.setdefault(key, _Page())
        page.attempt = max(page.attempt, attempt)
        return page.taken

    def is_barred(self, key: PartitionKey, attempt: int) -> bool:
        """Tells whether another attempt has claimed a partition since."""
        page = self._pages.get(key)
        return page is not None and attempt < page.attempt

    def take(self, key: PartitionKey, start: int, rows: int) -> None:
        """Records rows that have come."""
        self._pages.setdefault(key, _Page()).taken.add(start, start + rows)

    def counts(self, feed: int, epoch: int) -> Mapping[int, int]:
        """Returns how many rows came, by partition."""
        return {
            key.partition: page.taken.rows
            for key, page in self._pages.items()
            if (key.feed, key.epoch) == (feed, epoch) and page.taken.rows
        }

    def forget(self, feed: int, epoch: int) -> None:
        """Drops what is known of an epoch, which is over."""
        for known in (self._pages, self._opened):
            for key in [key for key in known if (key.feed, key.epoch) == (feed, epoch)]:
                del known[key]
