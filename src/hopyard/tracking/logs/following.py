"""The logs of several nodes as one stream of lines, as they come."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from hopyard.tracking.logs.node_log import LogCursor


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """A line of a node's log.

    Attributes:
        rank: The node's number in the run.
        text: The line without its end.
    """

    rank: int
    text: str


def follow_logs(
    cursors: Mapping[int, LogCursor],
    *,
    running: Callable[[], bool],
    stop: threading.Event,
    poll_seconds: float,
    tail: int | None = None,
) -> Iterator[NodeLine]:
    """Yields the lines of several logs as they come, until nothing runs any more and all is read.

    Args:
        cursors: Where to go on in each node's log, by rank.
        running: Tells whether there may be more lines.
        stop: Ends the following early, at once, when somebody sets it.
        poll_seconds: Time between two looks at the store.
        tail: How many lines of each log at the most to begin with; all if None.
    """
    goes_on = True
    while goes_on and not stop.is_set():
        # Before the logs: what was written by the end is then surely seen.
        goes_on = running()
        for rank, cursor in cursors.items():
            for line in last_of(cursor.read(), tail):
                yield NodeLine(rank=rank, text=line.decode("utf-8", "replace"))
        tail = None
        if goes_on:
            stop.wait(poll_seconds)


def last_of(lines: Iterable[bytes], count: int | None) -> Iterable[bytes]:
    """Returns the last so many of some lines; all of them, as they come, if None."""
    return lines if count is None else deque(lines, maxlen=count)
