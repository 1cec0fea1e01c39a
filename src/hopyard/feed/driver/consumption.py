"""Whether nodes consume what they are fed, as their heartbeats tell."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hopyard.errors import FeedStalled
from hopyard.feed.state import FeedState
from hopyard.protocol.node_status import NodeStatus, Phase


class Progress:
    """Whether rows are consumed while there are rows to consume.

    Args:
        seconds: How long there may be none.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._consumed = -1
        self._since = time.monotonic()

    def look(self, nodes: Sequence[NodeStatus]) -> None:
        """Records how the nodes are doing.

        Raises:
            FeedStalled: They have not consumed anything for too long.
        """
        states = [FeedState.of(node.notes) for node in nodes]
        consumed = sum(state.consumed for state in states)
        if consumed != self._consumed or not any(state.blocked for state in states):
            self._consumed, self._since = consumed, time.monotonic()
        elif time.monotonic() - self._since > self._seconds:
            raise FeedStalled(self._seconds, tuple(map(_words, nodes)))


def has_failed(node: NodeStatus) -> bool:
    """Tells whether a node has failed, as far as that is known."""
    return FeedState.of(node.notes).has_failed or node.phase in (Phase.FAILED, Phase.KILLED, Phase.LOST)


def has_enough(node: NodeStatus) -> bool:
    """Tells whether a node wants no more rows, and not because it has failed."""
    return not has_failed(node) and (node.phase is Phase.FINISHED or FeedState.of(node.notes).is_stopped)


def epochs_read(nodes: Sequence[NodeStatus], feed: int, epochs: int) -> int:
    """Returns how many epochs of a feed all nodes have read to their end; a node that wants no more rows has read all."""
    return min((epochs if has_enough(node) else _read_by(node, feed, epochs) for node in nodes), default=0)


def ended_early(nodes: Sequence[NodeStatus], feed: int, epoch: int) -> set[int]:
    """Returns the ranks of the nodes that have ended their feed before they had read an epoch to its end."""
    return {node.rank for node in nodes if has_enough(node) and _read_by(node, feed, epoch + 1) <= epoch}


def _read_by(node: NodeStatus, feed: int, most: int) -> int:
    last_feed, last_epoch = FeedState.of(node.notes).read
    if last_feed == feed:
        return min(last_epoch + 1, most)
    return most if last_feed > feed else 0


def _words(node: NodeStatus) -> str:
    state = FeedState.of(node.notes)
    return f"node {node.rank} on {node.host} has received {state.received} rows and consumed {state.consumed}"
