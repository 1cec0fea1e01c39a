"""What is known of one run: its record, its metrics, its logs and how its nodes ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from hopyard.errors import PathNotFound, RunNotFound
from hopyard.store import Project, read_segments, segment_numbers
from hopyard.tracking.codec import decode
from hopyard.tracking.listing import Listing, decode_all
from hopyard.tracking.node_log import LogCursor
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import MetricPoint, NodeOutcome, RunRecord
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import RunState


class RunReader:
    """Reads one run from the project, at any moment of its life; holds nothing but where the run is."""

    def __init__(self, project: Project, run_id: RunId | str) -> None:
        """Names the run to read; nothing is asked of the store yet.

        Raises:
            InvalidName: `run_id` is not an id of a run.
        """
        self.project = project
        self.id = RunId.parse(run_id) if isinstance(run_id, str) else run_id
        self._paths = run_paths(project, self.id)

    def __repr__(self) -> str:
        return f"RunReader({self.project!r}, {str(self.id)!r})"

    def record(self) -> RunRecord:
        """Returns the run's record as it stands now.

        Raises:
            RunNotFound: There is no such run.
            CorruptRecord: Its record cannot be understood.
        """
        path = self._paths.record
        try:
            return decode(RunRecord, self.project.read(path), path)
        except PathNotFound as error:
            raise RunNotFound(str(self.id), self.project.path) from error

    def state(self, now: float) -> RunState:
        """Returns the run's state as seen at `now`: LOST where its driver has fallen silent."""
        return self.record().state_at(now)

    def metrics(self, name: str | None = None) -> Listing[MetricPoint]:
        """Returns the points that the nodes reported, rank by rank in the order of reporting.

        Args:
            name: Only the points of this metric.
        """
        found = decode_all(MetricPoint, self._metric_lines())
        if name is None:
            return found
        return Listing(tuple(point for point in found if point.name == name), found.corrupt)

    def latest_metrics(self, rank: int = 0) -> Listing[MetricPoint]:
        """Returns what one node reported last: the points of its newest segment, with one read."""
        folder = self._paths.node_metrics(rank)
        newest = max(segment_numbers(self.project, folder), default=0)
        return decode_all(MetricPoint, self._points_in(folder, after=newest - 1))

    def log(self, rank: int = 0) -> Iterator[str]:
        """Yields the lines of a node's log so far, without line ends; nothing if it has written none.

        Raises:
            CorruptRecord: A piece of the log is missing.
        """
        for line in LogCursor(self.project, self._paths, rank).read():
            yield line.decode("utf-8", "replace")

    def follow(
        self,
        rank: int = 0,
        *,
        stop: threading.Event | None = None,
        poll_seconds: float = 1.0,
        clock: Callable[[], float] = time.time,
    ) -> Iterator[str]:
        """Yields the lines of a node's log as they come, until the run has ended and all is read.

        A run whose driver has fallen silent (LOST) counts as ended.

        Args:
            rank: Whose log.
            stop: Ends the following early, at once, when somebody sets it.
            poll_seconds: Time between two looks at the store.
            clock: Tells whether the run is lost.

        Raises:
            RunNotFound: There is no such run.
        """
        stop = stop or threading.Event()
        cursor = LogCursor(self.project, self._paths, rank)
        running = True
        while running and not stop.is_set():
            # The state before the log: what a run has written by its end is then surely seen.
            running = self.state(clock()) is RunState.RUNNING
            for line in cursor.read():
                yield line.decode("utf-8", "replace")
            if running:
                stop.wait(poll_seconds)

    def outcomes(self) -> Listing[NodeOutcome]:
        """Returns how the nodes ended, by rank; nodes that have not ended are missing."""
        paths = [self._paths.outcome(rank) for rank in self._ranks_in(self._paths.nodes)]
        return decode_all(NodeOutcome, ((path, self.project.read(path)) for path in paths))

    def _metric_lines(self) -> Iterator[tuple[str, bytes]]:
        for rank in self._ranks_in(self._paths.metrics):
            yield from self._points_in(self._paths.node_metrics(rank))

    def _points_in(self, folder: str, after: int = 0) -> Iterator[tuple[str, bytes]]:
        for segment in read_segments(self.project, folder, after=after):
            for number, line in enumerate(segment.data.splitlines(), start=1):
                yield f"{folder}, segment {segment.number}, line {number}", line

    def _ranks_in(self, folder: str) -> list[int]:
        try:
            entries = self.project.list(folder)
        except PathNotFound:
            return []
        stems = (entry.name.removesuffix(".json") for entry in entries)
        return sorted(int(stem) for stem in stems if stem.isdecimal())
