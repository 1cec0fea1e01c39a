"""The nodes of a run at one moment, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.training.view_feed import Fed

SILENT_SECONDS = 5.0
MOST_METRICS = 3
MOST_NAMES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What there is to show of a run; two that look the same are equal.

    Attributes:
        title: The run.
        seconds: How long it has been going on.
        nodes: Its nodes in rank order; none before they are known.
        is_over: Whether the run has ended.
        feed: What the nodes were fed; None if they are not.
    """

    title: str
    seconds: int
    nodes: tuple[NodeStatus, ...]
    is_over: bool = False
    feed: Fed | None = None

    @classmethod
    def of(
        cls,
        title: str,
        *,
        seconds: float,
        nodes: Sequence[NodeStatus],
        is_over: bool = False,
        feed: Fed | None = None,
    ) -> Self:
        """Returns a snapshot without what is not shown, or too short to be."""
        seen = tuple(
            replace(node, silent_seconds=_worth_showing(node.silent_seconds), idle_seconds=0.0, notes={})
            for node in nodes
        )
        return cls(title=title, seconds=int(seconds), nodes=seen, is_over=is_over, feed=feed)

    @property
    def elapsed(self) -> str:
        """How long the run has been going on, as a clock shows it."""
        return str(timedelta(seconds=self.seconds))

    @property
    def missing(self) -> str:
        """Who has not arrived, as a sentence; nothing if all have."""
        awaited = [node for node in self.nodes if node.phase is Phase.AWAITED]
        if not awaited:
            return ""
        count = f"{len(awaited)} of {len(self.nodes)} nodes"
        if self.is_over:
            return f"{count} did not arrive: {names(awaited)}"
        return f"waiting for {count}: {names(awaited)}"


def name(node: NodeStatus) -> str:
    """Returns what a node is called: its role and its rank."""
    return f"{node.role} {node.rank}"


def names(nodes: Iterable[NodeStatus], most: int = MOST_NAMES) -> str:
    """Returns what nodes are called, neighbours as one range; the last ones only by number where there are many."""
    runs: list[list[NodeStatus]] = []
    for node in nodes:
        if runs and runs[-1][-1].role == node.role and runs[-1][-1].rank == node.rank - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    shown = [name(run[0]) if len(run) == 1 else f"{name(run[0])}-{run[-1].rank}" for run in runs[:most]]
    left = sum(map(len, runs[most:]))
    return ", ".join(shown) + (f" and {left} more" if left else "")


def counts(nodes: Iterable[NodeStatus]) -> dict[Phase, int]:
    """Returns how many nodes are in each phase that one of them is in."""
    phases = [node.phase for node in nodes]
    return {phase: phases.count(phase) for phase in Phase if phase in phases}


def metrics(node: NodeStatus) -> str:
    """Returns the last values that a node reported, in short."""
    first = list(node.metrics.items())[:MOST_METRICS]
    return ", ".join(f"{metric} {value:.4g}" for metric, value in first)


def silence(node: NodeStatus) -> str:
    """Returns since when nothing was heard of a node; nothing if that is not worth a word."""
    return f"silent {node.silent_seconds:.0f} s" if node.silent_seconds else ""


def _worth_showing(seconds: float) -> float:
    return float(int(seconds)) if seconds > SILENT_SECONDS else 0.0
