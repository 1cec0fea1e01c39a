"""How long a program that shows the runs of a project waits for them: the first time, and each time after."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

from benchmarks.report import Table

from hopyard.codec.records import encode_file
from hopyard.store import Project
from hopyard.testing.s3_server import S3Server
from hopyard.tracking import RunId, RunIndex, RunRecord, RunState, RunWriter, list_runs, run_paths

DAY = 86_400.0
YEAR = 365 * DAY
RUNNING = 10
TIMES = 5


class Later:
    """The time, and how much later it is for an index: it looks at all runs again after a while."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return time.time() + self.seconds


def records(project: Project, applications: int, runs: int) -> Iterator[RunRecord]:
    """Yields the records of a year: so many runs, evenly over the applications; the last ones go on."""
    with RunWriter.begin(
        project, app_id="application_0", kind="launcher", name="digits", nodes=2, backend="spark"
    ) as run:
        run.annotate(parameters={"learning_rate": 0.001, "layers": 3, "dataset": "Resources/digits"})
        run.finish(RunState.FINISHED, value="0.9871")
        like = run.record
    project.remove(project.layout.logs, recursive=True)
    each = runs // applications
    now = time.time()
    for number in range(runs):
        application, place = divmod(number, each)
        ended = now - (runs - number) * YEAR / runs
        goes_on = number >= runs - RUNNING
        yield replace(
            like,
            id=RunId(f"application_1700000000000_{application:05d}", "launcher", place + 1),
            state=RunState.RUNNING if goes_on else RunState.FINISHED,
            started=ended - 600.0,
            updated=now if goes_on else ended,
            ended=None if goes_on else ended,
            heartbeat_seconds=3600.0,
            driver={},
        )


def put_all(project: Project, found: Iterator[RunRecord]) -> None:
    """Writes records as fast as the store takes them."""
    with ThreadPoolExecutor(16) as pool:
        for _ in pool.map(
            lambda run: project.put(run_paths(project, run.id).record, encode_file(run)), found
        ):
            pass


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Returns the seconds that a piece of work takes by the clock, and those of this process."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - used


def shown(times: list[tuple[float, float]]) -> str:
    """Returns the middle one of several durations, and what of it was work of this process."""
    elapsed, used = sorted(times)[len(times) // 2]
    return f"{elapsed:.3f} ({used:.3f})"


def measured(name: str, project: Project, applications: int, runs: int) -> tuple[str, ...]:
    """Returns a row: cold, warm, and warm with a look at all runs."""
    put_all(project, records(project, applications, runs))
    cold = []
    for _ in range(TIMES):
        clock = Later()
        index = RunIndex(project, clock=clock)
        cold.append(timed(index.runs))
    assert len(index.runs().runs) == runs
    warm = [timed(index.runs) for _ in range(TIMES)]
    clock.seconds = 1000.0  # what was written just before it was read would be read again, to be sure
    index.runs()
    whole = []
    for _ in range(TIMES):
        clock.seconds += 61.0
        whole.append(timed(index.runs))
    listed = [timed(lambda: list_runs(project, limit=21)) for _ in range(TIMES)]
    return name, f"{runs:,}", f"{applications:,}", *map(shown, (cold, warm, whole, listed))


def run() -> Table:
    """Measures the local disk with many runs in each application and with few, and S3."""
    with ExitStack() as resources:
        rows = []
        for applications in (100, 5000):
            folder = resources.enter_context(tempfile.TemporaryDirectory())
            rows.append(measured("local", Project.open(folder, "bench"), applications, 10_000))
        s3 = resources.enter_context(S3Server())
        project = Project.open(s3.new_bucket(), "bench", storage_options=s3.storage_options)
        rows.append(measured("s3 (moto)", project, 100, 1000))
    return Table(
        title="The runs of a project, read again and again",
        columns=(
            "store",
            "runs",
            "applications",
            "first time, s",
            "again, s",
            "again, all of them looked at, s",
            "the newest 21, s",
        ),
        rows=tuple(rows),
        notes=f"`RunIndex.runs` on the runs of a year, of which {RUNNING} go on; median of {TIMES}, in brackets the "
        "seconds of work of this process alone. An index looks at all runs once a minute, and in between at the "
        "applications that had a run within a day. The last column is what `hopyard runs` asks for, which starts "
        "anew each time.",
    )
