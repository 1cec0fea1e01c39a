"""What the driver is told of a node's feed, in the notes of its heartbeats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

ADDRESS = "feed"
STATE = "feed.state"
ALONE = "feed.alone"
HAS_LEARNT_ALONE = (
    "each of the %d nodes has trained a model of its own: no strategy of TensorFlow and no torch.distributed joined them. "
    "If they were to train one model together, see docs/distributed.md"
)


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
        replayed: Of which feed it has read kept epochs again, how many, and how many rows each of them has.
    """

    received: int = 0
    consumed: int = 0
    blocked: int = 0
    is_stopped: bool = False
    has_failed: bool = False
    asking: tuple[int, ...] = ()
    replayed: tuple[int, int, int] = (-1, 0, 0)

    def to_note(self) -> str:
        """Returns the text of the note."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, notes: Mapping[str, str]) -> Self:
        """Returns what the notes of a node tell; that of one which has told nothing yet is nought."""
        text = notes.get(STATE)
        if text is None:
            return cls()
        fields = json.loads(text)
        return cls(**{**fields, "asking": tuple(fields["asking"]), "replayed": tuple(fields["replayed"])})
