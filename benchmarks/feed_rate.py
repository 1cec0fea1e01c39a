"""How fast rows reached the nodes, from what each node saw."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FEATURES = 784
# how Spark talks to its Python, the same for all sides
SPARK = {"spark.python.unix.domain.socket.enabled": "true", "spark.buffer.size": "262144"}
ROW_BYTES = FEATURES * 4 + 4


@dataclass(slots=True, kw_only=True)
class Arrivals:
    """What a node saw of a feed; times are by the machine's clock, which all its processes share.

    Attributes:
        batch: How many rows the node asks for at once; None if it takes what is there.
        rows: How many it saw in all.
        timed: How many of them came as many at once as it asked for. It gets fewer when there are no more to come,
            which it hears when the cluster is shut down, long after the rows were there.
        first: How many came first.
        first_time: When these came.
        last_time: When the last of the timed ones came.
    """

    batch: int | None
    rows: int = 0
    timed: int = 0
    first: int = 0
    first_time: float = 0.0
    last_time: float = 0.0

    def saw(self, rows: int) -> None:
        """Counts rows that have just arrived."""
        self.rows += rows
        if rows == self.batch or self.batch is None:
            self.last_time = time.monotonic()
            self.first_time = self.first_time or self.last_time
            self.first = self.first or rows
            self.timed += rows

    def leave(self, path: Path) -> None:
        """Writes it down for `read`."""
        path.write_text(json.dumps(dataclasses.asdict(self)))


def read(folder: Path) -> list[Arrivals]:
    """Returns what the nodes left in a folder."""
    return [Arrivals(**json.loads(path.read_text())) for path in sorted(folder.iterdir())]


def steady(arrivals: Iterable[Arrivals]) -> float:
    """Returns rows per second from the first batch that any node got to the last."""
    seen = [each for each in arrivals if each.timed]
    first = min(seen, key=lambda each: each.first_time)
    rows = sum(each.timed for each in seen) - first.first
    return rows / (max(each.last_time for each in seen) - first.first_time)
