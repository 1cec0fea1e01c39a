"""Runs whose nodes are fed, as written in advance; and feeds that listen, for nodes of theirs."""

from __future__ import annotations

import json
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.driver.group_status import GroupStatus, feed_token
from hopyard.feed.driver.targets import FedNodes
from hopyard.feed.lockstep.member import LockstepGroups
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.service import FeedService
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.state import ADDRESS, STATE, FeedState
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.wire import WireServer

SECRET = "a-secret"
NOWHERE = json.dumps({"host": "127.0.0.1", "port": 1, "certificate": None})


def node(rank: int, phase: Phase = Phase.RUNNING, address: str = NOWHERE, **state: bool) -> NodeStatus:
    """Returns a node that is fed at an address, if it has one."""
    notes = {ADDRESS: address, STATE: FeedState(**state).to_note()} if address else {}  # type: ignore[arg-type]
    return NodeStatus(rank=rank, role="worker", phase=phase, host="there", notes=notes)


class ScriptedRun:
    """A run that takes a step whenever somebody waits for it; after the last one it has ended."""

    def __init__(self, *steps: GroupStatus, error: BaseException | None = None, ends: bool = True) -> None:
        self._steps = list(steps)
        self._error = error
        self._ends = ends
        self._has_ended = False

    def standing(self) -> GroupStatus:
        return self._steps[0]

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        if within_seconds and len(self._steps) > 1:
            del self._steps[0]
        elif within_seconds:
            self._has_ended = self._ends
            threading.Event().wait(min(within_seconds, 0.001))
        return self._has_ended

    def failure(self) -> BaseException | None:
        return self._error if self._has_ended else None


def standing(*nodes: NodeStatus, attempt: int = 0) -> GroupStatus:
    return GroupStatus(attempt=attempt, nodes=nodes)


def fed(run: ScriptedRun, *ranks: int, verdict_seconds: float = 60.0) -> FedNodes:
    return FedNodes(run, secret=SECRET, ranks=ranks or (0, 1), verdict_seconds=verdict_seconds)


class Servers:
    """Feeds of nodes that listen."""

    def __init__(self, resources: ExitStack) -> None:
        self._resources = resources

    def start(self, attempt: int = 0) -> tuple[Inbox, str]:
        """Returns the inbox of another one, and its address."""
        inbox = Inbox()
        service = FeedService(
            inbox,
            StoredRows(Path(tempfile.gettempdir())),
            EpochCache(inbox, Path(tempfile.gettempdir())),
            LockstepGroups(),
            RowSigner.new(),
        )
        server = WireServer(service, address="127.0.0.1", token=feed_token(SECRET, attempt))
        endpoint = self._resources.enter_context(server).endpoint
        return inbox, json.dumps(endpoint.without_token())
