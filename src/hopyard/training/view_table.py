"""The nodes of a run as a table: a row for each, or, where they are many, a row for each role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Literal

from rich.jupyter import JupyterMixin
from rich.table import Table
from rich.text import Text

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.training.view_feed import Fed, quantity
from hopyard.training.view_snapshot import Snapshot, counts, metrics, silence

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

MOST_ROWS = 20
LEAST_ROWS = 5
OTHER_LINES = 5  # heading, names of the columns, those left out, those awaited, an empty one
STYLES = {
    Phase.AWAITED: "yellow",
    Phase.ARRIVED: "cyan",
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
    Phase.ARRIVED,
    Phase.AWAITED,
    Phase.KILLED,
    Phase.FINISHED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table; one that is optional is there if a node has something in it, and if there is room."""

    name: str
    justify: Literal["left", "right"] = "left"
    gives_way: bool = False
    is_optional: bool = False
    least_width: int = 0


COLUMNS = (
    Column(name="node", justify="right"),
    Column(name="role"),
    Column(name="host", gives_way=True),  # on a narrow terminal
    Column(name="state"),
    Column(name="rows", justify="right", is_optional=True),
    Column(name="rows/s", justify="right", is_optional=True),
    Column(name="waiting", justify="right", is_optional=True, least_width=80),
    Column(name="step", justify="right"),
    Column(name="metrics", gives_way=True),
    Column(name="", is_optional=True),
)


class NodeTable(JupyterMixin):
    """A snapshot, to be shown by rich on a terminal or in a notebook; as high and as wide as there is room."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        snapshot = self._snapshot
        feed = snapshot.feed or Fed(rows={})
        sums = [_sum_row(snapshot.nodes, feed)] if len(feed.rows) > 1 else []
        room = max(LEAST_ROWS, min(MOST_ROWS, options.size.height - OTHER_LINES - len(sums)))
        width = options.max_width
        yield _heading(snapshot, feed, width)
        if not snapshot.nodes:
            yield _line(("the nodes are being started", "yellow"))
        elif len(snapshot.nodes) <= room:
            yield _table([*(_node_row(node, feed) for node in snapshot.nodes), *sums], width)
        else:
            rows, left = _compact(snapshot.nodes, feed, room)
            yield _table([*rows, *sums], width)
            if left:
                yield _line((f"{left} more are failed, lost, silent or awaited", "dim"))
        if snapshot.missing:
            yield _line((snapshot.missing, "yellow"))


def _heading(snapshot: Snapshot, feed: Fed, width: int) -> Text:
    elapsed = f"  {snapshot.elapsed}"
    under_way = f"  {feed.under_way}" if feed.under_way and not snapshot.is_over else ""
    room = width - len(elapsed) - len(under_way)
    title = snapshot.title
    if len(title) > room:  # its end tells which run it is
        title = "…" + title[len(title) - max(room, 1) + 1 :]
    return _line((title, "bold"), (elapsed, "dim"), (under_way, "cyan"))


def _compact(nodes: Sequence[NodeStatus], feed: Fed, room: int) -> tuple[list[Sequence[Text]], int]:
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


def _table(rows: Sequence[Sequence[Text]], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    shown = [
        width >= column.least_width and (not column.is_optional or any(row[number].plain for row in rows))
        for number, column in enumerate(COLUMNS)
    ]
    for column in compress(COLUMNS, shown):
        table.add_column(column.name, justify=column.justify, no_wrap=not column.gives_way)
    for row in rows:
        table.add_row(*compress(row, shown))
    return table


def _node_row(node: NodeStatus, feed: Fed) -> Sequence[Text]:
    return (
        _cell(str(node.rank)),
        _cell(node.role),
        _cell(node.host),
        _cell(node.phase.value, STYLES[node.phase]),
        *_fed([node], feed),
        _cell("" if node.step is None else str(node.step)),
        _cell(metrics(node)),
        _cell(silence(node), "yellow"),
    )


def _group_row(nodes: Sequence[NodeStatus], feed: Fed) -> Sequence[Text]:
    if len(nodes) == 1:
        return _node_row(nodes[0], feed)
    hosts = len({node.host for node in nodes if node.host})
    states = [_cell(f"{count} {phase.value}", STYLES[phase]) for phase, count in counts(nodes).items()]
    steps = sorted({node.step for node in nodes if node.step is not None})
    return (
        _cell(f"{nodes[0].rank}-{nodes[-1].rank}"),
        _cell(nodes[0].role),
        _cell(f"{hosts} host{'s' * (hosts != 1)}" if hosts else ""),
        _cell(", ").join(states),
        *_fed(nodes, feed),
        _cell("-".join(map(str, (steps[0], steps[-1]) if len(steps) > 1 else steps))),
        _cell(""),
        _cell(""),
    )


def _sum_row(nodes: Sequence[NodeStatus], feed: Fed) -> Sequence[Text]:
    nothing = _cell("")
    return (_cell("all"), nothing, nothing, nothing, *_fed(nodes, feed), nothing, nothing, nothing)


def _fed(nodes: Sequence[NodeStatus], feed: Fed) -> tuple[Text, Text, Text]:
    rows = feed.of(nodes)
    if rows is None:
        return _cell(""), _cell(""), _cell("")
    fast = "" if rows.per_second is None else quantity(rows.per_second)
    return _cell(quantity(rows.count)), _cell(fast), _cell(quantity(rows.waiting) if rows.waiting else "")


def _cell(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def _line(*parts: tuple[str, str]) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")
