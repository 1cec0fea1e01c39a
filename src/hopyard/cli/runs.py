"""`hopyard runs`: what was run in the project, and what came of it; or all about one run."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.completers import complete_runs
from hopyard.cli.output import console
from hopyard.cli.output.as_json import print_json, run_object, until
from hopyard.cli.output.columns import Column, Cut, cut, shortened
from hopyard.cli.output.wording import duration, local_time, number
from hopyard.cli.settings import Settings
from hopyard.view.frame import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hopyard.store import Project
    from hopyard.tracking import Listing, MetricPoint, RunRecord

THREADS = 16
LONGEST_VALUE = 60  # in the list
MOST_SHOWN = 20
RUN = Column(
    name="RUN", cut=Cut.START, least=21
)  # its end tells which run it is, and names it to other commands
COLUMNS = (
    RUN,
    Column(name="NAME", cut=Cut.END, least=14, is_first=True),
    Column(name="STATE"),
    Column(name="NODES", is_optional=True),
    Column(name="STARTED", is_optional=True),
    Column(name="DURATION"),
    Column(name="LAST", cut=Cut.END, least=15),
)
STYLES = {"RUNNING": "cyan", "FINISHED": "green", "FAILED": "bold red", "KILLED": "yellow", "LOST": "magenta"}


def runs(
    context: typer.Context,
    *,
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Show all about one run: 'last', an id, the end of an id, or a name.",
            show_default="list all runs",
            autocompletion=complete_runs,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            metavar="N",
            help="List at most N runs.",
            show_default=f"{MOST_SHOWN}; all with --json",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """List the runs of the project, newest first; or show one run."""
    settings = Settings.of(context)
    project = settings.open_project()
    if run is not None:
        show_run(project, run, as_json=as_json)
        return
    from hopyard.tracking import list_runs

    most = limit or (None if as_json else MOST_SHOWN)
    with console.busy("Reading runs"):
        listing = list_runs(project, limit=most and most + 1)  # one more, to see whether there are more
        shown = listing.runs[:most]
        metrics = metrics_of(project, shown)
    now = time.time()
    pairs = list(zip(shown, metrics, strict=True))
    if as_json:
        print_json([run_object(project, each, newest_of(points), now=now) for each, points in pairs])
    elif shown:
        rows = [row(*each, now=now) for each in pairs]
        columns = (shortened(RUN, [cells[0] for cells in rows]), *COLUMNS[1:])
        console.table(columns, rows, styles=STYLES)
    else:
        console.note(f"No runs yet in {project.path}; make one with: {settings.command('demo')}")
    if most is not None and len(listing.runs) > most:
        console.note(f"There are older runs: --limit {10 * most} shows more.")
    for corrupt in (*listing.corrupt, *(each for points in metrics for each in points.corrupt)):
        console.warning(str(corrupt))


def show_run(project: Project, text: str, *, as_json: bool) -> None:
    """Prints all that is known of one run."""
    from hopyard.tracking import find_run

    with console.busy("Reading the run"):
        run = find_run(project, text).record()
        (metrics,) = metrics_of(project, [run])
    now = time.time()
    if as_json:
        print_json([run_object(project, run, newest_of(metrics), now=now)])
    else:
        for line in console.aligned(all_of(project, run, metrics, now=now)):
            console.line(line)
        if run.error:
            console.line()
            console.line(run.error.rstrip(), style="red")
    for corrupt in metrics.corrupt:
        console.warning(str(corrupt))


def all_of(
    project: Project, run: RunRecord, metrics: Iterable[MetricPoint], *, now: float
) -> list[tuple[str, str]]:
    """Returns what there is to know of one run, save for its error; a name and a text for each thing."""
    known = run_object(project, run, newest_of(metrics), now=now)
    texts = {
        "Run": known["id"],
        "Name": run.name,
        "Description": run.description,
        "State": known["state"],
        "Started": local_time(run.started),
        "Ended": "" if run.ended is None else local_time(run.ended),
        "Duration": duration(known["seconds"]),
        "Nodes": f"{run.nodes} on {run.backend}",
        "Attempts": "" if run.attempts == 1 else str(run.attempts),
        "User": run.user,
        "Parameters": " ".join(f"{name}={value}" for name, value in known["parameters"].items()),
        "Metrics": last_metrics(metrics),
        "Value": run.value or "",
        "TensorBoard": tensorboard_of(run),
        "Folder": known["folder"],
    }
    return [(name, printable(text)) for name, text in texts.items() if text]


def metrics_of(project: Project, records: Sequence[RunRecord]) -> list[Listing[MetricPoint]]:
    """Returns what each run reported last, read side by side: a remote store takes its time for each."""
    from hopyard.tracking import RunReader

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(lambda record: RunReader(project, record.id).latest_metrics(), records))


def row(record: RunRecord, metrics: Iterable[MetricPoint], *, now: float) -> tuple[str, ...]:
    """Returns the cells of one run as seen at `now`."""
    return (
        str(record.id),
        record.name,
        record.state_at(now).value,
        str(record.nodes),
        local_time(record.started),
        duration(until(record, now) - record.started),
        last_news(record, metrics),
    )


def last_news(record: RunRecord, metrics: Iterable[MetricPoint]) -> str:
    """Returns what went wrong, was reported last or returned, and how often the nodes were started if more than once."""
    attempts = "" if record.attempts == 1 else f"{record.attempts} attempts"
    reported = f"{last_metrics(metrics)} {tensorboard_of(record)}".strip()
    news = first_line(record.error) if record.error else reported
    if news or not returned(record):
        return ": ".join(filter(None, (attempts, news)))
    return f"{returned(record)} ({attempts})" if attempts else returned(record)


def returned(record: RunRecord) -> str:
    """Returns the value of a run, which is the best one of a study, in short; nothing if there is none."""
    return (
        "" if record.value in (None, "None") else f"value={cut(record.value or '', LONGEST_VALUE, Cut.END)}"
    )


def tensorboard_of(record: RunRecord) -> str:
    """Returns where the TensorBoard of a run is that goes on, if it has one."""
    address = record.details.get("tensorboard")
    return str(address) if address and record.ended is None else ""


def first_line(text: str) -> str:
    """Returns the line of an error that says what happened."""
    return text.strip().partition("\n")[0]


def last_metrics(points: Iterable[MetricPoint]) -> str:
    """Returns the newest value of each metric of the chief, on one line."""
    return " ".join(f"{name}={number(point.value)}" for name, point in sorted(newest_of(points).items()))


def newest_of(points: Iterable[MetricPoint]) -> dict[str, MetricPoint]:
    """Returns the newest point of each metric of the chief: of its last attempt, that of the highest step."""
    newest: dict[str, MetricPoint] = {}
    for point in points:
        before = newest.get(point.name)
        if point.rank == 0 and (before is None or _when(point) >= _when(before)):
            newest[point.name] = point
    return newest


def _when(point: MetricPoint) -> tuple[int, int]:
    return point.attempt, point.step
