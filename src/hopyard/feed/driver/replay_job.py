"""Later epochs of a feed, which the nodes read again by themselves: the driver's view of that."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from hopyard.errors import FeedJobFailed
from hopyard.feed.node.service import PROGRESS, REPLAY
from hopyard.feed.remote import FeedNode, ask_node
from hopyard.feed.task.partition_sender import PartitionReport


class ReplayJob:
    """Has nodes put what they have kept into their inboxes again, once for each epoch."""

    def __init__(self, nodes: Sequence[FeedNode], epochs: range, seed: int | None) -> None:
        self._nodes = nodes
        self._epochs = epochs
        self._seed = seed
        self._pause = threading.Event()
        self._rows: dict[int, list[int]] = {node.rank: [] for node in nodes}
        self._busy = list(nodes)
        self._error = ""

    def start(self) -> None:
        """Tells the nodes to read what they have kept."""
        message: dict[str, Any] = {"epochs": [self._epochs.start, self._epochs.stop], "seed": self._seed}
        # a node that cannot be told reads nothing, and is not waited for
        self._busy = [node for node in self._nodes if ask_node(node, REPLAY, message) is not None]

    def wait(self, seconds: float) -> bool:
        """Tells whether all nodes are done, after some seconds."""
        self._pause.wait(seconds)
        self._busy = [node for node in self._busy if not self._is_done(node)]
        return not self._busy

    def cancel(self) -> None:
        """Does nothing: nodes that want no more rows, or are ended, read no more."""

    def reports(self) -> list[PartitionReport]:
        """Returns nothing, since there is no partition to report of.

        Raises:
            FeedJobFailed: A node could not read again what it had kept.
        """
        if self._error:
            raise FeedJobFailed(self._error)
        return []

    def rows(self, epoch: int) -> dict[int, int] | None:
        """Returns how many rows each node has read in an epoch; None if not all have finished it."""
        place = epoch - self._epochs.start
        if any(len(rows) <= place for rows in self._rows.values()):
            return None
        return {rank: rows[place] for rank, rows in self._rows.items()}

    def hear(self, rank: int, epochs: int, rows: int) -> None:
        """Records what a node, which may have ended since, has told the driver: the rows of each of some epochs."""
        if epochs > len(self._rows[rank]):
            self._rows[rank] = [rows] * epochs

    def finished(self) -> list[int]:
        """Returns the ranks of the nodes that have come through all epochs."""
        return [rank for rank, rows in self._rows.items() if len(rows) == len(self._epochs)]

    def _is_done(self, node: FeedNode) -> bool:
        answer = ask_node(node, PROGRESS, {})
        if answer is None:
            return True  # it has ended; if it failed, that is told elsewhere
        self._rows[node.rank] = answer["rows"]
        if answer["error"]:
            self._error = f"node {node.rank} on {node.host} could not read its rows again: {answer['error']}"
        return bool(answer["done"])
