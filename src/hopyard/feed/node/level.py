"""What becomes of pieces that come to a node, how its inbox is doing, and where the epochs end in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEnd:
    """Stands behind the last row of an epoch.

    Attributes:
        rows: How many rows of the epoch came to this node.
        number: The numbers of its feed and of the epoch in that; below 0 behind rows of a stream, which have none.
    """

    rows: int
    number: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How an inbox is doing.

    Attributes:
        received: Rows that have come.
        consumed: Rows that were drawn.
        waiting: Rows that wait to be drawn.
        blocked: Pieces whose senders wait for room.
        is_stopped: Whether nothing more is wanted.
        asking: The Spark stages that wait for results, or did until nothing more was wanted.
        refused: The last Spark stages that got results which do not fit, and why they do not.
        read: Feed and number of the last epoch that the function has read to its end; below 0 before the first.
        left_out: Of epochs that the function has not used to the last row: feed, number and how many rows.
    """

    received: int
    consumed: int
    waiting: int
    blocked: int
    is_stopped: bool
    asking: tuple[int, ...] = ()
    refused: tuple[tuple[int, str], ...] = ()
    read: tuple[int, int] = (-1, -1)
    left_out: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """What a function has left in its inbox.

    Attributes:
        was_asked: Whether it has asked for rows at all.
        consumed: Rows that it has drawn.
        waiting: Rows that wait.
        epochs_left: Epochs that it has not read to the end, as far as is known.
    """

    was_asked: bool
    consumed: int
    waiting: int
    epochs_left: int


class Taken(Enum):
    """What became of a piece that was brought."""

    KEPT = "kept"
    STOPPED = "stopped"  # the node wants nothing more
    BARRED = "barred"  # another attempt brings these rows


class Verdict(NamedTuple):
    """What became of some pieces: how many were kept, and of the next one if there was one that was not."""

    taken: Taken
    kept: int

    def to_bytes(self) -> bytes:
        """Returns this as it travels."""
        return f"{self.taken.value} {self.kept}".encode()

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Returns what has travelled."""
        taken, kept = data.decode().split()
        return cls(Taken(taken), int(kept))
