"""`hopyard runs`: what was run in the project, and what came of it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli import console
from hopyard.cli.columns import Column, Cut
from hopyard.cli.settings import Settings
from hopyard.cli.wording import duration, local_time, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hopyard.store import Project
    from hopyard.tracking import Listing, MetricPoint, RunRecord

THREADS = 16
COLUMNS = (
    Column(
        name="RUN", cut=Cut.START, least=21
    ),  # its end tells which run it is, and names it to other commands
    Column(name="NAME", cut=Cut.END, least=8),
    Column(name="STATE"),
    Column(name="NODES"),
    Column(name="STARTED", is_optional=True),
    Column(name="DURATION"),
    Column(name="LAST", cut=Cut.END, least=16),
)
STYLES = {"RUNNING": "cyan", "FINISHED": "green", "FAILED": "bold red", "KILLED": "yellow", "LOST": "magenta"}


def runs(
    context: typer.Context,
    *,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="How many runs to list at the most.")
    ] = 20,
) -> None:
    """List the runs of the project, newest first."""
    from hopyard.tracking import list_runs

    settings = Settings.of(context)
    project = settings.open_project()
    with console.busy("Reading runs"):
        listing = list_runs(project, limit=limit + 1)  # one more, to see whether there are more
        shown = listing.runs[:limit]
        metrics = metrics_of(project, shown)
    if shown:
        now = time.time()
        rows = [row(*each, now=now) for each in zip(shown, metrics, strict=True)]
        console.table(COLUMNS, rows, styles=STYLES)
    else:
        console.note(f"No runs yet in {project.path}; make one with: {settings.command('demo')}")
    if len(listing.runs) > limit:
        console.note(f"There are older runs, too: --limit {10 * limit} shows more.")
    for corrupt in (*listing.corrupt, *(each for points in metrics for each in points.corrupt)):
        console.warning(str(corrupt))


def metrics_of(project: Project, records: Sequence[RunRecord]) -> list[Listing[MetricPoint]]:
    """Returns what each run reported last, read side by side: a remote store takes its time for each."""
    from hopyard.tracking import RunReader

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(lambda record: RunReader(project, record.id).latest_metrics(), records))


def row(record: RunRecord, metrics: Iterable[MetricPoint], *, now: float) -> tuple[str, ...]:
    """Returns the cells of one run as seen at `now`."""
    from hopyard.tracking import RunState

    state = record.state_at(now)
    last_sign = record.updated if state is RunState.LOST else now
    until = last_sign if record.ended is None else record.ended
    return (
        str(record.id),
        record.name,
        state.value,
        str(record.nodes),
        local_time(record.started),
        duration(until - record.started),
        last_news(record, metrics),
    )


def last_news(record: RunRecord, metrics: Iterable[MetricPoint]) -> str:
    """Returns what went wrong or was reported last, and how often the nodes were started if more than once."""
    news = (
        first_line(record.error)
        if record.error
        else f"{last_metrics(metrics)} {tensorboard_of(record)}".strip()
    )
    if record.attempts == 1:
        return news
    attempts = f"{record.attempts} attempts"
    return f"{attempts}: {news}" if news else attempts


def tensorboard_of(record: RunRecord) -> str:
    """Returns where the TensorBoard of a run is that goes on, if it has one."""
    address = record.details.get("tensorboard")
    return str(address) if address and record.ended is None else ""


def first_line(text: str) -> str:
    """Returns the line of an error that says what happened."""
    return text.strip().partition("\n")[0]


def last_metrics(points: Iterable[MetricPoint]) -> str:
    """Returns the newest value of each metric of the chief: of its last attempt, that of the highest step."""
    newest: dict[str, MetricPoint] = {}
    for point in points:
        before = newest.get(point.name)
        if point.rank == 0 and (before is None or _when(point) >= _when(before)):
            newest[point.name] = point
    return " ".join(f"{name}={number(point.value)}" for name, point in sorted(newest.items()))


def _when(point: MetricPoint) -> tuple[int, int]:
    return point.attempt, point.step
