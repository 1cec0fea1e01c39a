"""What the driver is told of a node's feed, in the notes of its heartbeats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

ADDRESS = "feed"
STATE = "feed.state"
ALONE = "feed.alone"
NANS = "feed.nans"
VALIDATION_UNREAD = "feed.validation-unread"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """How the feed of a node is doing.

    Attributes:
        received: Rows that have come.
        consumed: Rows that the function has drawn.
        blocked: Senders that wait for room.
        is_stopped: Whether the node wants nothing more.
        has_failed: Whether that is because its function raised something.
        asking: The Spark stages that wait for results of it, or did until it wanted nothing more.
        refused: The last Spark stages that got results which do not fit, and why they do not.
        replayed: Of which feed it has read kept epochs again, how many, and how many rows each of them has.
        read: Feed and number of the last epoch that its function has read to its end; below 0 before the first.
        left_out: Of epochs that its function has not used to the last row: feed, number and how many rows.
    """

    received: int = 0
    consumed: int = 0
    blocked: int = 0
    is_stopped: bool = False
    has_failed: bool = False
    asking: tuple[int, ...] = ()
    refused: tuple[tuple[int, str], ...] = ()
    replayed: tuple[int, int, int] = (-1, 0, 0)
    read: tuple[int, int] = (-1, -1)
    left_out: tuple[tuple[int, int, int], ...] = ()

    def to_note(self) -> str:
        """Returns the text of the note."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, notes: Mapping[str, str]) -> Self:
        """Returns what the notes of a node tell; that of one which has told nothing yet is nought."""
        text = notes.get(STATE)
        if text is None:
            return cls()
        fields: dict[str, Any] = json.loads(text)
        known: dict[str, Any] = {name: _frozen(value) for name, value in fields.items()}
        return cls(**known)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
