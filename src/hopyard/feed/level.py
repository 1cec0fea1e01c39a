"""How an inbox is doing, and where the epochs end in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEnd:
    """Stands behind the last row of an epoch.

    Attributes:
        rows: How many rows of the epoch came to this node.
    """

    rows: int


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
    """

    received: int
    consumed: int
    waiting: int
    blocked: int
    is_stopped: bool
    asking: tuple[int, ...] = ()


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
