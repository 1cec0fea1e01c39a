"""The runs of a project for whoever asks again and again: only what may have changed is read again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from hopyard.codec.records import decode
from hopyard.errors import CorruptRecord, PathNotFound
from hopyard.store import Project
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import RunRecord
from hopyard.tracking.runid import RunId, run_number
from hopyard.tracking.states import RunState

A = TypeVar("A")
B = TypeVar("B")
# A remote store takes milliseconds for each small read and serves many at a time.
THREADS = 16
# So far may the clocks of this machine and of a store differ: S3 refuses requests that differ more. What was written
# less long before it was read may have been written again in between.
_CLOCKS_DIFFER_SECONDS = 900.0
# An application whose last run has ended may start another one: a notebook is left open overnight.
_LIVELY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListing:
    """The runs of a project.

    Attributes:
        runs: Their records, newest first.
        corrupt: What is wrong with those that could not be read.
    """

    runs: tuple[RunRecord, ...]
    corrupt: tuple[CorruptRecord, ...]

    @classmethod
    def of(cls, found: Iterable[StoredRun], *, limit: int | None = None) -> RunListing:
        """Returns the runs that have a record."""
        some = list(found)
        records = [run.record for run in some if run.record is not None]
        records.sort(key=lambda record: (record.started, record.number), reverse=True)
        corrupt = tuple(run.corrupt for run in some if run.corrupt is not None)
        return cls(runs=tuple(records[:limit]), corrupt=corrupt)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run folder as it was seen.

    Attributes:
        id: Which run it is.
        record: Its record; None if there is none, or a damaged one.
        corrupt: What is wrong with the record.
        size: Bytes of the record.
        modified: When the record was written, by the store's clock; None until somebody has asked.
        looked: When it was read, by this machine's clock.
    """

    id: RunId
    record: RunRecord | None = None
    corrupt: CorruptRecord | None = None
    size: int = 0
    modified: float | None = None
    looked: float

    def is_running(self, now: float) -> bool:
        """Whether its driver writes the record again and again."""
        return self.record is not None and self.record.state_at(now) is RunState.RUNNING


class RunIndex:
    """Lists the runs of a project, and reads again only what may have changed; threads may share it.

    Runs that go on are read each time, and so is what is new in applications that had a run within a day. Runs
    that have ended hardly ever change: a study is resumed, a run is removed, a notebook wakes up after days. All folders
    are listed for that, and the size and time of each record are looked at, when `whole_seconds` have gone by.

    Args:
        project: Where to look.
        whole_seconds: How old what is said of applications without a recent run may be; 0 to look at all of them
            each time.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, project: Project, *, whole_seconds: float = 60.0, clock: Callable[[], float] = time.time
    ) -> None:
        self._project = project
        self._whole_seconds = whole_seconds
        self._clock = clock
        self._applications: dict[str, dict[RunId, StoredRun]] = {}
        self._looked_at_all = -math.inf
        self._listing = RunListing(runs=(), corrupt=())
        self._are_studies: dict[RunId, bool] = {}
        self._lock = threading.Lock()

    def runs(self) -> RunListing:
        """Returns the runs as they stand now; the same object as before if nothing has changed."""
        with self._lock:
            now = self._clock()
            # not within: also if the clock was set back
            is_whole = not 0 <= now - self._looked_at_all < self._whole_seconds
            found = self._look(now, is_whole=is_whole)
            if is_whole:
                self._looked_at_all = now
            if found != self._applications:
                self._applications = found
                self._listing = RunListing.of(run for runs in found.values() for run in runs.values())
            return self._listing

    def studies(self, wanted: Callable[[RunRecord], bool] = lambda _: True) -> Iterator[RunRecord]:
        """Yields the runs that are studies and are wanted, newest first, looking no further ahead than a few."""
        runs = [run for run in self.runs().runs if wanted(run)]
        with ThreadPoolExecutor(THREADS) as pool:
            for first in range(0, len(runs), 4 * THREADS):
                some = runs[first : first + 4 * THREADS]
                for run, is_study in zip(some, pool.map(self._is_study, some), strict=True):
                    if is_study:
                        yield run

    def _is_study(self, run: RunRecord) -> bool:
        known = self._are_studies.get(run.id)
        if known is None:
            known = self._project.exists(run_paths(self._project, run.id).study)
            if (
                known or run.state is not RunState.RUNNING
            ):  # one that has just begun has no record of a study yet
                self._are_studies[run.id] = known
        return known

    def _look(self, now: float, *, is_whole: bool) -> dict[str, dict[RunId, StoredRun]]:
        """Returns all runs by application, of which some were looked at again."""
        before = self._applications
        names = list(folders_in(self._project, self._project.layout.logs))
        again = {name for name in names if is_whole or _is_lively(before.get(name, {}), now)}
        with ThreadPoolExecutor(THREADS) as pool:
            listed = dict(
                zip(again, map_all(pool, partial(runs_of_application, self._project), again), strict=True)
            )
            known = [(run_id, before.get(name, {}).get(run_id)) for name in again for run_id in listed[name]]
            look = _Look(project=self._project, now=now, is_whole=is_whole)
            found = {run.id: run for run in map_all(pool, look, known)}
        return {
            name: {run_id: found[run_id] for run_id in listed[name]} if name in again else before[name]
            for name in names
        }


def read_run(project: Project, now: float, run_id: RunId) -> StoredRun:
    """Returns a run as its record says now."""
    path = run_paths(project, run_id).record
    try:
        data = project.read(path)
    except PathNotFound:
        return StoredRun(id=run_id, looked=now)
    try:
        return StoredRun(id=run_id, record=decode(RunRecord, data, path), size=len(data), looked=now)
    except CorruptRecord as error:
        return StoredRun(id=run_id, corrupt=error, size=len(data), looked=now)


def runs_of_application(project: Project, app_id: str, limit: int | None = None) -> Sequence[RunId]:
    """Returns the runs of an application that have a folder, or the newest of each kind."""
    run_ids: list[RunId] = []
    for kind in folders_in(project, project.layout.application(app_id)):
        names = folders_in(project, project.layout.kind(app_id, kind))
        numbers = sorted((n for n in map(run_number, names) if n is not None), reverse=True)
        # Within a kind numbers grow with time, so none but these can be among the newest.
        run_ids += (RunId(app_id, kind, number) for number in numbers[:limit])
    return run_ids


def folders_in(project: Project, folder: str) -> Iterator[str]:
    """Yields the names of the folders in a folder; none if it is not there."""
    try:
        entries = project.list(folder)
    except PathNotFound:
        return
    yield from (entry.name for entry in entries if entry.is_dir)


def map_all(pool: ThreadPoolExecutor, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """Yields what a function returns for each item, in order; threads take some at a time, as each item may be quick."""
    given = list(items)
    count = 1 + len(given) // (8 * THREADS)
    chunks = [given[first : first + count] for first in range(0, len(given), count)]
    for done in pool.map(lambda chunk: [function(item) for item in chunk], chunks):
        yield from done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """A look at a run of which something may be known already.

    Attributes:
        project: Where it is.
        now: The time.
        is_whole: Whether to look at runs that have ended, too.
    """

    project: Project
    now: float
    is_whole: bool

    def __call__(self, known: tuple[RunId, StoredRun | None]) -> StoredRun:
        """Returns the run as it stands, from what was known of it where that still holds."""
        run_id, seen = known
        if seen is None or seen.record is None or seen.is_running(self.now):
            found = read_run(self.project, self.now, run_id)
            return seen if seen is not None and _is_same(found, seen) else found
        return self._ended(seen) if self.is_whole else seen

    def _ended(self, seen: StoredRun) -> StoredRun:
        try:
            entry = self.project.info(run_paths(self.project, seen.id).record)
        except PathNotFound:
            return StoredRun(id=seen.id, looked=self.now)
        is_as_seen = entry.size == seen.size and seen.modified in (None, entry.modified)
        if is_as_seen and 0 < entry.modified < seen.looked - _CLOCKS_DIFFER_SECONDS:
            return seen if seen.modified is not None else replace(seen, modified=entry.modified)
        return replace(read_run(self.project, self.now, seen.id), modified=entry.modified)


def _is_same(found: StoredRun, seen: StoredRun) -> bool:
    """Whether two looks saw the same; errors are not compared by themselves."""
    return found.record == seen.record and str(found.corrupt) == str(seen.corrupt)


def _is_lively(runs: Mapping[RunId, StoredRun], now: float) -> bool:
    """Whether an application may have new runs: one of its own is recent, or none is known yet."""
    known = [run.record.updated for run in runs.values() if run.record is not None]
    return not known or now - max(known) < _LIVELY_SECONDS
