"""The nodes of a run at one moment, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.feed_meter import Fed
from hopyard.view.frame import MOST_ROWS, clock, printable

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

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
        return clock(self.seconds)

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

    def table(self) -> ConsoleRenderable:
        """Returns the nodes as a table."""
        from hopyard.view.run_table import NodeTable  # rich takes a while to import

        return NodeTable(self)

    def news(self, earlier: Self | None) -> list[str]:
        """Returns a line for each change of a node's phase, and for what was fed, since an earlier snapshot."""
        before = () if earlier is None else earlier.nodes
        fed = earlier.feed.number if earlier is not None and earlier.feed is not None else 0
        feeds = [self.feed.done] if self.feed is not None and self.feed.number != fed else []
        return [*_changes(before, self.nodes), *feeds]

    def summary(self) -> str:
        """Returns how far the nodes are, as a line."""
        if self.missing:
            return self.missing
        feed = self.feed or Fed(rows={})
        states = ", ".join(f"{count} {phase.value}" for phase, count in counts(self.nodes).items())
        fed = feed.of(self.nodes)
        parts = [states, feed.under_way, "" if fed is None else fed.words]
        told = [node for node in self.nodes if node.step is not None or node.rank in feed.rows][:MOST_ROWS]
        return "; ".join(filter(None, [*parts, *(_progress(node, feed) for node in told)]))


class Reporting(Protocol):
    """Whoever reports metrics."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """The last value of each."""


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


def metrics(reporting: Reporting) -> tuple[str, ...]:
    """Returns the last values that somebody reported, in short, each with its name."""
    first = list(reporting.metrics.items())[:MOST_METRICS]
    return tuple(f"{printable(metric)} {value:.4g}" for metric, value in first)


def silence(node: NodeStatus) -> str:
    """Returns since when nothing was heard of a node; nothing if that is not worth a word."""
    return f"silent {node.silent_seconds:.0f} s" if node.silent_seconds else ""


def _changes(before: Iterable[NodeStatus], nodes: Iterable[NodeStatus]) -> list[str]:
    phases = {node.rank: node.phase for node in before}
    changed = [node for node in nodes if phases.get(node.rank, Phase.AWAITED) != node.phase]
    if len(changed) <= MOST_ROWS:
        return [f"{name(node)}: {node.phase.value} on {node.host}" for node in changed]
    return [
        f"{names(node for node in changed if node.phase is phase)}: {phase.value}"
        for phase in counts(changed)
    ]


def _progress(node: NodeStatus, feed: Fed) -> str:
    rows = feed.of([node])
    step = "" if node.step is None else f"step {node.step}"
    parts = (
        "" if rows is None else f"has {rows.words}",
        " ".join(filter(None, (step, ", ".join(metrics(node))))),
    )
    return f"{name(node)} {', '.join(filter(None, parts))}"


def _worth_showing(seconds: float) -> float:
    return float(int(seconds)) if seconds > SILENT_SECONDS else 0.0
