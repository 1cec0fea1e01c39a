"""The nodes that are fed, as the driver knows them: who is there, who has ended, and whether others took their place."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hopyard.errors import FeedJobFailed, NodesReplaced, NotFed, WireTimeout
from hopyard.feed.driver.consumption import has_enough, has_failed
from hopyard.feed.driver.group_status import GroupStatus, feed_token
from hopyard.feed.remote import FeedNode, ask_node
from hopyard.feed.state import ADDRESS
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.wire import Endpoint, Json

POLL_SECONDS = 0.05
VERDICT_SECONDS = 60.0


class FedRun(Protocol):
    """What those who feed nodes have to know of their run, and may do to it."""

    @property
    def run_id(self) -> str:
        """The id of the run."""

    def standing(self) -> GroupStatus:
        """Returns how the nodes are doing, and which attempt they belong to."""

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether the run has ended, well or not."""

    def failure(self) -> BaseException | None:
        """Returns what the run ended of; None while it goes on, and if it ended well."""

    def fail(self, error: BaseException) -> None:
        """Ends the run because of an error, and returns when it has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FedGroup:
    """Nodes that can be fed, all of one attempt; none if the run has ended well."""

    attempt: int
    nodes: tuple[FeedNode, ...] = ()

    def ask(self, method: str, message: Mapping[str, Json]) -> dict[int, dict[str, Any]]:
        """Returns the answers of the nodes, by rank; a node that has ended gives none."""
        asked = {node.rank: answer_of(node, method, message) for node in self.nodes}
        return {rank: answer for rank, answer in asked.items() if answer is not None}

    def silent(self, answers: Collection[int]) -> list[int]:
        """Returns the ranks that are not among those which have answered."""
        return [node.rank for node in self.nodes if node.rank not in answers]


def answer_of(node: FeedNode, method: str, message: Mapping[str, Json]) -> dict[str, Any] | None:
    """Returns the answer of a node; None if there is none: why is known when the driver has heard of it."""
    try:
        return ask_node(node, method, message)
    except WireTimeout:
        return None


class _Deadline:
    """A moment that can be put off."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.extend()

    def extend(self) -> None:
        """Counts its seconds from now on."""
        self._moment = time.monotonic() + self._seconds

    @property
    def has_passed(self) -> bool:
        """Whether the seconds are over."""
        return time.monotonic() > self._moment


class FedNodes:
    """The nodes of a run that are fed.

    Args:
        run: The run.
        secret: What the tokens of its nodes are made of.
        ranks: The nodes that are fed.
        verdict_seconds: How long it may take until it is known why nodes take no rows.
    """

    def __init__(
        self, run: FedRun, *, secret: str, ranks: Sequence[int], verdict_seconds: float = VERDICT_SECONDS
    ) -> None:
        self._run = run
        self._verdict_seconds = verdict_seconds
        self._secret = secret
        self._ranks = frozenset(ranks)

    def look(self) -> GroupStatus:
        """Returns how they are doing right now."""
        standing = self._run.standing()
        nodes, before = (
            tuple(node for node in some if node.rank in self._ranks)
            for some in (standing.nodes, standing.before)
        )
        return GroupStatus(attempt=standing.attempt, nodes=nodes, before=before)

    def team(self, standing: GroupStatus) -> FedGroup:
        """Returns those that can be fed."""
        nodes = [self._node(node, standing.attempt) for node in standing.nodes if _can_be_fed(node)]
        return FedGroup(attempt=standing.attempt, nodes=tuple(nodes))

    def are_gathered(self, standing: GroupStatus) -> bool:
        """Tells whether all of them can be fed, or have returned."""
        return bool(standing.nodes) and not _absent(standing)

    def gather(self, seconds: float) -> FedGroup:
        """Returns the nodes once all of them can be fed, or have returned; those that are started again are waited for.

        Args:
            seconds: How long nodes that run may take.

        Raises:
            NotFed: Some of them took longer.
            HopyardError: What ended the run.
        """
        deadline = _Deadline(seconds)
        while not self._run.has_ended(POLL_SECONDS):
            now = self.look()
            if self.are_gathered(now):
                return self.team(now)
            absent = _absent(now)
            if any(node.phase is not Phase.RUNNING or has_failed(node) for node in absent):
                deadline.extend()  # their start, or their end, has a deadline of its own
            elif deadline.has_passed:
                who = ", ".join(f"node {node.rank} on {node.host}" for node in absent)
                reason = (
                    f"{seconds:g} s after their start (feed_timeout), these take no rows (ctx.feed()): {who}"
                )
                raise NotFed("a feed", reason)
        self.check_run()
        return FedGroup(attempt=self.look().attempt)

    def ask(
        self, team: FedGroup, method: str, message: Callable[[FeedNode], Mapping[str, Json]]
    ) -> dict[int, dict[str, Any]]:
        """Returns the answers of nodes, by rank; those that have had enough give none, the others are asked until they do.

        Raises:
            HopyardError: As `await_verdict`.
        """
        answers: dict[int, dict[str, Any]] = {}
        deadline = _Deadline(self._verdict_seconds)
        while True:
            for node in team.nodes:
                answer = None if node.rank in answers else answer_of(node, method, message(node))
                if answer is not None:
                    answers[node.rank] = answer
            silent = team.silent(answers)
            if not silent or self._is_explained(team.attempt, silent, deadline):
                return answers
            self._run.has_ended(POLL_SECONDS)

    def await_verdict(self, attempt: int, ranks: Collection[int] | None = None) -> None:
        """Waits until it is known why nodes take no rows; returns if they have had enough.

        Args:
            attempt: Whose nodes.
            ranks: Which of them; all by default.

        Raises:
            NodesReplaced: One has failed, and they were started again.
            FeedJobFailed: They have neither had enough nor failed.
            HopyardError: What ended the run.
        """
        deadline = _Deadline(self._verdict_seconds)
        while not self._is_explained(attempt, self._ranks if ranks is None else ranks, deadline):
            self._run.has_ended(POLL_SECONDS)

    def _is_explained(self, attempt: int, ranks: Collection[int], deadline: _Deadline) -> bool:
        """Tells whether nodes have had enough, or the run has ended well; raises as `await_verdict`."""
        has_ended = self._run.has_ended()
        self.check_run()
        now = self.look()
        if now.attempt != attempt:
            raise NodesReplaced(now.attempt)
        if any(map(has_failed, now.nodes)):
            deadline.extend()  # the end of the others, and their new start, have deadlines of their own
            return has_ended
        if has_ended or all(has_enough(node) for node in now.nodes if node.rank in ranks):
            return True
        if deadline.has_passed:
            who = ", ".join(f"node {node.rank} on {node.host}" for node in now.nodes if node.rank in ranks)
            raise FeedJobFailed(f"{who}: taking no rows for {self._verdict_seconds:g} s, and none has failed")
        return False

    def check(self, attempt: int) -> None:
        """Raises what became of the nodes of an attempt, if one of them has failed; as `await_verdict`."""
        now = self.look()
        if now.attempt != attempt or self._run.has_ended() or any(map(has_failed, now.nodes)):
            self.await_verdict(attempt)

    def is_wanted(self) -> bool:
        """Tells whether a node is left that takes rows, or will."""
        nodes = self.look().nodes
        return not nodes or not all(map(has_enough, nodes))

    def check_run(self) -> None:
        """Raises what ended the run, if it has ended and something did."""
        error = self._run.failure()
        if error is not None:
            raise error

    def _node(self, node: NodeStatus, attempt: int) -> FeedNode:
        address = json.loads(node.notes[ADDRESS])
        endpoint = Endpoint.from_json({**address, "token": feed_token(self._secret, attempt)})
        return FeedNode(rank=node.rank, host=node.host, endpoint=endpoint)


def _absent(standing: GroupStatus) -> list[NodeStatus]:
    return [node for node in standing.nodes if not _can_be_fed(node) and node.phase is not Phase.FINISHED]


def _can_be_fed(node: NodeStatus) -> bool:
    return node.phase is Phase.RUNNING and ADDRESS in node.notes and not has_failed(node)
