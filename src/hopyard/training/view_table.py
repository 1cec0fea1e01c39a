"""The nodes of a run as a table: a row for each, or, where they are many, a row for each role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.jupyter import JupyterMixin
from rich.table import Table
from rich.text import Text

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.training.view_snapshot import Snapshot, counts, metrics, silence

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

MOST_ROWS = 20
LEAST_ROWS = 5
OTHER_LINES = 4  # heading, names of the columns, those left out, those awaited
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


class NodeTable(JupyterMixin):
    """A snapshot, to be shown by rich on a terminal or in a notebook; as high and as wide as there is room."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        snapshot = self._snapshot
        room = max(LEAST_ROWS, min(MOST_ROWS, options.size.height - OTHER_LINES))
        yield _line((snapshot.title, "bold"), (f"  {snapshot.elapsed}", "dim"))
        if not snapshot.nodes:
            yield _line(("the nodes are being started", "yellow"))
        elif len(snapshot.nodes) <= room:
            yield _table(map(_node_row, snapshot.nodes))
        else:
            yield from _compact(snapshot.nodes, room)
        if snapshot.missing:
            yield _line((snapshot.missing, "yellow"))


def _compact(nodes: Sequence[NodeStatus], room: int) -> Iterator[Table | Text]:
    roles = dict.fromkeys(node.role for node in nodes)
    groups = [[node for node in nodes if node.role == role] for role in roles]
    others = [node for group in groups if len(group) > 1 for node in group if _is_noteworthy(node)]
    noteworthy = sorted(others, key=lambda node: URGENCY.index(node.phase))
    shown = noteworthy[: room - len(groups)]
    yield _table([*map(_group_row, groups), *map(_node_row, shown)])
    if len(noteworthy) > len(shown):
        yield _line((f"{len(noteworthy) - len(shown)} more are failed, lost, silent or awaited", "dim"))


def _is_noteworthy(node: NodeStatus) -> bool:
    return node.phase in (Phase.FAILED, Phase.LOST, Phase.AWAITED) or node.silent_seconds > 0


def _table(rows: Iterable[Sequence[Text]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("node", justify="right", no_wrap=True)
    table.add_column("role", no_wrap=True)
    table.add_column("host")  # host and metrics give way on a narrow terminal
    table.add_column("state", no_wrap=True)
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("metrics")
    cells = list(rows)
    if any(row[-1].plain for row in cells):
        table.add_column("", no_wrap=True)
    for row in cells:
        table.add_row(*row[: len(table.columns)])
    return table


def _node_row(node: NodeStatus) -> Sequence[Text]:
    return (
        _cell(str(node.rank)),
        _cell(node.role),
        _cell(node.host),
        _cell(node.phase.value, STYLES[node.phase]),
        _cell("" if node.step is None else str(node.step)),
        _cell(metrics(node)),
        _cell(silence(node), "yellow"),
    )


def _group_row(nodes: Sequence[NodeStatus]) -> Sequence[Text]:
    if len(nodes) == 1:
        return _node_row(nodes[0])
    hosts = len({node.host for node in nodes if node.host})
    states = [_cell(f"{count} {phase.value}", STYLES[phase]) for phase, count in counts(nodes).items()]
    steps = sorted({node.step for node in nodes if node.step is not None})
    return (
        _cell(f"{nodes[0].rank}-{nodes[-1].rank}"),
        _cell(nodes[0].role),
        _cell(f"{hosts} host{'s' * (hosts != 1)}" if hosts else ""),
        _cell(", ").join(states),
        _cell("-".join(map(str, (steps[0], steps[-1]) if len(steps) > 1 else steps))),
        _cell(""),
        _cell(""),
    )


def _cell(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def _line(*parts: tuple[str, str]) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")
