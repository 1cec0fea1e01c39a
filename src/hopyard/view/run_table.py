"""The nodes of a run as a table: a row for each, or, where they are many, a row for each role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.feed_meter import Fed, quantity
from hopyard.view.run_snapshot import Snapshot, counts, metrics, silence
from hopyard.view.table_columns import Cell, Column, Parts, cell, heading, line, room_for_rows, table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

OTHER_LINES = 5  # heading, names of the columns, those left out, those awaited, an empty one
STYLES = {
    Phase.AWAITED: "yellow",
    Phase.ARRIVED: "cyan",
    Phase.STARTING: "cyan",
    Phase.RUNNING: "green",
    Phase.FINISHED: "bold green",
    Phase.FAILED: "bold red",
    Phase.KILLED: "magenta",
    Phase.LOST: "bold red",
}
URGENCY = (
    Phase.FAILED,
    Phase.LOST,
    Phase.RUNNING,
    Phase.STARTING,
    Phase.ARRIVED,
    Phase.AWAITED,
    Phase.KILLED,
    Phase.FINISHED,
)

COLUMNS = (
    Column(name="node", justify="right"),
    Column(name="role"),
    Column(name="host", gives_way=True, goes=2),  # on a narrow terminal
    Column(name="state"),
    Column(name="rows", justify="right", is_optional=True),
    Column(name="rows/s", justify="right", is_optional=True, goes=3),
    Column(name="waiting", justify="right", is_optional=True, least_width=80, goes=1),
    Column(name="step", justify="right"),
    Column(name="metrics", gives_way=True, goes=4),
    Column(name="", is_optional=True),
)


class NodeTable:
    """A snapshot, to be shown by rich on a terminal or in a notebook; as high and as wide as there is room."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        snapshot = self._snapshot
        feed = snapshot.feed or Fed(rows={})
        sums = [_sum_row(snapshot.nodes, feed)] if len(feed.rows) > 1 else []
        room = room_for_rows(options.size.height - OTHER_LINES - len(sums))
        width = options.max_width
        under_way = "" if snapshot.is_over else feed.under_way
        yield heading(snapshot.title, (snapshot.elapsed, "dim"), (under_way, "cyan"), width=width)
        if not snapshot.nodes:
            yield line(("the nodes are being started", "yellow"))
        elif len(snapshot.nodes) <= room:
            yield table(COLUMNS, [*(_node_row(node, feed) for node in snapshot.nodes), *sums], width)
        else:
            rows, left = _compact(snapshot.nodes, feed, room)
            yield table(COLUMNS, [*rows, *sums], width)
            if left:
                yield line((f"{left} more are failed, lost, silent or awaited", "dim"))
        if snapshot.missing:
            yield line((snapshot.missing, "yellow"))


def _compact(nodes: Sequence[NodeStatus], feed: Fed, room: int) -> tuple[list[Sequence[Cell]], int]:
    """Returns a row for each role and for nodes that need attention, and how many of these have no room."""
    roles = dict.fromkeys(node.role for node in nodes)
    groups = [[node for node in nodes if node.role == role] for role in roles]
    others = [node for group in groups if len(group) > 1 for node in group if _is_noteworthy(node)]
    noteworthy = sorted(others, key=lambda node: URGENCY.index(node.phase))
    shown = noteworthy[: room - len(groups)]
    rows = [_group_row(group, feed) for group in groups] + [_node_row(node, feed) for node in shown]
    return rows, len(noteworthy) - len(shown)


def _is_noteworthy(node: NodeStatus) -> bool:
    return node.phase in (Phase.FAILED, Phase.LOST, Phase.AWAITED) or node.silent_seconds > 0


def _node_row(node: NodeStatus, feed: Fed) -> Sequence[Cell]:
    return (
        cell(str(node.rank)),
        cell(node.role),
        cell(node.host),
        cell(node.phase.value, STYLES[node.phase]),
        *_fed([node], feed),
        cell("" if node.step is None else str(node.step)),
        Parts(metrics(node), ", "),
        cell(silence(node), "yellow"),
    )


def _group_row(nodes: Sequence[NodeStatus], feed: Fed) -> Sequence[Cell]:
    if len(nodes) == 1:
        return _node_row(nodes[0], feed)
    hosts = len({node.host for node in nodes if node.host})
    states = [cell(f"{count} {phase.value}", STYLES[phase]) for phase, count in counts(nodes).items()]
    steps = sorted({node.step for node in nodes if node.step is not None})
    return (
        cell(f"{nodes[0].rank}-{nodes[-1].rank}"),
        cell(nodes[0].role),
        cell(f"{hosts} host{'s' * (hosts != 1)}" if hosts else ""),
        cell(", ").join(states),
        *_fed(nodes, feed),
        cell("-".join(map(str, (steps[0], steps[-1]) if len(steps) > 1 else steps))),
        cell(""),
        cell(""),
    )


def _sum_row(nodes: Sequence[NodeStatus], feed: Fed) -> Sequence[Cell]:
    nothing = cell("")
    return (cell("all"), nothing, nothing, nothing, *_fed(nodes, feed), nothing, nothing, nothing)


def _fed(nodes: Sequence[NodeStatus], feed: Fed) -> tuple[Text, Text, Text]:
    rows = feed.of(nodes)
    if rows is None:
        return cell(""), cell(""), cell("")
    fast = "" if rows.per_second is None else quantity(rows.per_second)
    return cell(quantity(rows.count)), cell(fast), cell(quantity(rows.waiting) if rows.waiting else "")
