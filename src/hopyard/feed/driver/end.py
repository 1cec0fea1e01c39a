"""Telling nodes that nothing more will come."""

from __future__ import annotations

import time
from collections.abc import Callable

from hopyard.errors import FeedJobFailed
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.driver.targets import POLL_SECONDS, FedGroup, FedNodes, FedRun, answer_of
from hopyard.feed.node.service import END
from hopyard.protocol.node_status import Phase

TELL_SECONDS = 120.0


class EndOfFeed:
    """Tells all nodes that are fed that nothing more will come, each as soon as it listens.

    A node that does not hear of it would wait for rows for ever.

    Args:
        run: The run.
        nodes: Those of it that are fed.
        has_fed: Tells whether the nodes of an attempt have got all that they are to get.
        was_used: Tells whether the driver program has fed anything at all.
        tell_seconds: How long a node that listens may be out of reach.
    """

    def __init__(
        self,
        run: FedRun,
        nodes: FedNodes,
        *,
        has_fed: Callable[[int], bool] = lambda _: True,
        was_used: Callable[[], bool] = lambda: True,
        tell_seconds: float = TELL_SECONDS,
    ) -> None:
        self._run = run
        self._has_fed = has_fed
        self._was_used = was_used
        self._tell_seconds = tell_seconds
        self._nodes = nodes
        self._told: set[tuple[int, int]] = set()
        self._deaf_since: float | None = None

    def say(self, timeout: float | None) -> None:
        """Returns when all have been told, when the run has ended, or after some seconds.

        Raises:
            FeedJobFailed: A node that listens cannot be reached.
        """
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._run.has_ended():
            now = self._nodes.look()
            if self._has_fed(now.attempt):
                self._tell(self._nodes.team(now))
            if self._is_said(now) or time.monotonic() > deadline:
                return
            self._run.has_ended(POLL_SECONDS)

    def _tell(self, team: FedGroup) -> None:
        untold = [node for node in team.nodes if (team.attempt, node.rank) not in self._told]
        for node in untold:
            if answer_of(node, END, {"was_used": self._was_used()}) is not None:
                self._told.add((team.attempt, node.rank))
                self._deaf_since = None
        if all((team.attempt, node.rank) in self._told for node in untold):
            self._deaf_since = None
            return
        self._deaf_since = self._deaf_since or time.monotonic()
        if time.monotonic() - self._deaf_since > self._tell_seconds:
            who = ", ".join(f"node {node.rank} on {node.host}" for node in untold)
            raise FeedJobFailed(f"{who} could not be told of the end for {self._tell_seconds:g} s")

    def _is_said(self, now: GroupStatus) -> bool:
        return bool(now.nodes) and all(
            node.phase is Phase.FINISHED or (now.attempt, node.rank) in self._told for node in now.nodes
        )
