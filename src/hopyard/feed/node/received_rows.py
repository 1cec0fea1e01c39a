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
    """What is known of one share."""

    attempt: int = -1
    taken: Ranges = field(default_factory=Ranges)


class ReceivedRows:
    """Keeps account of the rows that a node has taken; not for several threads."""

    def __init__(self) -> None:
        self._pages: dict[PartitionKey, _Page] = {}
        self._opened: dict[PartitionKey, int] = {}

    def open(self, share: PartitionKey, attempt: int) -> bool:
        """Takes note that an attempt begins, at the share's home; returns whether it may not be the first one."""
        return self._opened.setdefault(share, attempt) != attempt

    def claim(self, share: PartitionKey, attempt: int) -> Ranges:
        """Gives a share to an attempt, whose rows alone are taken from now on; returns what is there of it."""
        page = self._pages.setdefault(share, _Page())
        page.attempt = max(page.attempt, attempt)
        return page.taken

    def is_barred(self, share: PartitionKey, attempt: int) -> bool:
        """Tells whether another attempt has claimed a share since."""
        page = self._pages.get(share)
        return page is not None and attempt < page.attempt

    def take(self, share: PartitionKey, start: int, rows: int) -> None:
        """Takes note of rows that have come."""
        self._pages.setdefault(share, _Page()).taken.add(start, start + rows)

    def counts(self, feed: int, epoch: int) -> Mapping[int, int]:
        """Returns how many rows came, by partition."""
        return {
            share.partition: page.taken.rows
            for share, page in self._pages.items()
            if (share.feed, share.epoch) == (feed, epoch) and page.taken.rows
        }

    def forget(self, feed: int, epoch: int) -> None:
        """Drops what is known of an epoch, which is over."""
        for known in (self._pages, self._opened):
            for share in [share for share in known if (share.feed, share.epoch) == (feed, epoch)]:
                del known[share]
