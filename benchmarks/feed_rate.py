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
    """What a node saw of a feed; times are by the machine's clock, which all its processes share."""

    first_rows: int = 0
    first_time: float = 0.0
    rows: int = 0
    last_time: float = 0.0

    def saw(self, rows: int) -> None:
        """Counts rows that have just arrived."""
        self.last_time = time.monotonic()
        if not self.rows:
            self.first_rows, self.first_time = rows, self.last_time
        self.rows += rows

    def leave(self, path: Path) -> None:
        """Writes it down for `read`."""
        path.write_text(json.dumps(dataclasses.asdict(self)))


def read(folder: Path) -> list[Arrivals]:
    """Returns what the nodes left in a folder."""
    return [Arrivals(**json.loads(path.read_text())) for path in sorted(folder.iterdir())]


def steady(arrivals: Iterable[Arrivals]) -> float:
    """Returns rows per second from the first row that any node saw to the last."""
    seen = [each for each in arrivals if each.rows]
    first = min(seen, key=lambda each: each.first_time)
    rows = sum(each.rows for each in seen) - first.first_rows
    return rows / (max(each.last_time for each in seen) - first.first_time)
