"""What a person sees of a run while it goes on: a table of its nodes, and their output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hopyard.cluster.node_status import NodeStatus
from hopyard.cluster.plan import Plan


class View:
    """Shows a run where it was started."""

    def __init__(self, plan: Plan, *, progress: bool | None, stream_logs: bool) -> None:
        self._plan = plan
        self._progress = progress

    def lines(self, rank: int, lines: tuple[str, ...]) -> None:
        """Shows output of a node, each line after the node's name."""
        role = self._plan.nodes[rank].role.value
        sys.stdout.write("".join(f"[{role} {rank}] {line}\n" for line in lines))

    @contextmanager
    def showing(self, status: Callable[[], tuple[NodeStatus, ...]], title: str) -> Iterator[None]:
        """Shows the nodes while open."""
        yield
