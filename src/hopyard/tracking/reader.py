"""What is known of one run: its record, its metrics, its logs and how its nodes ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator

from hopyard.codec.records import decode
from hopyard.errors import PathNotFound, RunNotFound
from hopyard.store import Project, read_segments, segment_numbers
from hopyard.store.layout import rank_and_attempt
from hopyard.tracking.listing import Listing, decode_all
from hopyard.tracking.logs.following import NodeLine, follow_logs, last_of
from hopyard.tracking.logs.node_log import LogCursor
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import MetricPoint, NodeOutcome, RunRecord
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import RunState
from hopyard.tracking.trial_runs import trial_as_run


class RunReader:
    """Reads one run from the project, at any moment of its life; holds nothing but where the run is."""

    def __init__(self, project: Project, run_id: RunId | str) -> None:
        """Names the run to read; nothing is asked of the store yet.

        Raises:
            InvalidName: `run_id` is not an id of a run.
        """
        self.project = project
        self.id = RunId.of(run_id)
        self._paths = run_paths(project, self.id)

    def __repr__(self) -> str:
        return f"RunReader({self.project!r}, {str(self.id)!r})"

    def record(self) -> RunRecord:
        """Returns the run's record as it stands now; for a trial without one, what it would say.

        Raises:
            RunNotFound: There is no such run.
            CorruptRecord: Its record cannot be understood.
        """
        try:
            return self._record()
        except PathNotFound as error:
            raise RunNotFound(str(self.id), self.project.path) from error

    def state(self, now: float) -> RunState:
        """Returns the run's state as seen at `now`: LOST where its driver has fallen silent."""
        return self.record().state_at(now)

    def metrics(self, name: str | None = None) -> Listing[MetricPoint]:
        """Returns the points that the nodes reported, rank by rank in the order of reporting.

        Points of all attempts are there; a later attempt may repeat steps of an earlier one.

        Args:
            name: Only the points of this metric.
        """
        found = decode_all(MetricPoint, self._metric_lines())
        if name is None:
            return found
        return Listing(tuple(point for point in found if point.name == name), found.corrupt)

    def latest_metrics(self, rank: int = 0) -> Listing[MetricPoint]:
        """Returns what one node reported last: the newest segment of the last attempt in which it reported."""
        attempts = (attempt for owner, attempt in self._nodes_in(self._paths.metrics) if owner == rank)
        folder = self._paths.node_metrics(rank, max(attempts, default=0))
        newest = max(segment_numbers(self.project, folder), default=0)
        return decode_all(MetricPoint, self._points_in(folder, after=newest - 1))

    def log(self, rank: int = 0, *, attempt: int | None = None, tail: int | None = None) -> Iterator[str]:
        """Yields the lines of a node's log so far, without line ends; nothing if it has written none.

        Args:
            rank: Whose log.
            attempt: Only what the node wrote in this attempt; all attempts in order if not given.
            tail: Only so many lines, the last ones.

        Raises:
            CorruptRecord: A piece of the log is missing.
        """
        for line in last_of(LogCursor(self.project, self._paths, rank, attempt).read(), tail):
            yield line.decode("utf-8", "replace")

    def follow(
        self,
        rank: int = 0,
        *,
        attempt: int | None = None,
        stop: threading.Event | None = None,
        poll_seconds: float = 1.0,
        clock: Callable[[], float] = time.time,
    ) -> Iterator[str]:
        """Yields the lines of a node's log as they come; as `follow_nodes` for one node."""
        lines = self.follow_nodes((rank,), attempt=attempt, stop=stop, poll_seconds=poll_seconds, clock=clock)
        for line in lines:
            yield line.text

    def follow_nodes(
        self,
        ranks: Iterable[int],
        *,
        attempt: int | None = None,
        tail: int | None = None,
        stop: threading.Event | None = None,
        poll_seconds: float = 1.0,
        clock: Callable[[], float] = time.time,
    ) -> Iterator[NodeLine]:
        """Yields the lines of several nodes' logs as they come, until the run has ended and all is read.

        A run whose driver has fallen silent (LOST) counts as ended. The lines of one node are in their order; of
        two nodes' lines, that which reached the store first need not come first.

        Args:
            ranks: Whose logs.
            attempt: Only what the nodes write in this attempt, until the next one begins; all if not given.
            tail: Of what is there already, only so many lines of each node, the last ones.
            stop: Ends the following early, at once, when somebody sets it.
            poll_seconds: Time between two looks at the store.
            clock: Tells whether the run is lost.

        Raises:
            RunNotFound: There is no such run.
        """
        return follow_logs(
            {rank: LogCursor(self.project, self._paths, rank, attempt) for rank in ranks},
            running=lambda: self._goes_on(attempt, clock()),
            stop=stop or threading.Event(),
            poll_seconds=poll_seconds,
            tail=tail,
        )

    def outcomes(self, attempt: int | None = None) -> Listing[NodeOutcome]:
        """Returns how the nodes ended, by rank; nodes that have not ended are missing.

        Args:
            attempt: How they ended in this attempt; if not given, each as it ended the last time.
        """
        ends = self._nodes_in(self._paths.nodes)
        chosen = dict(ends if attempt is None else (end for end in ends if end[1] == attempt))
        paths = [self._paths.outcome(rank, when) for rank, when in chosen.items()]
        return decode_all(NodeOutcome, ((path, self.project.read(path)) for path in paths))

    def _record(self) -> RunRecord:
        path = self._paths.record
        if self.id.trial and not self.project.exists(path):
            return trial_as_run(self.project, self.id)
        return decode(RunRecord, self.project.read(path), path)

    def _goes_on(self, attempt: int | None, now: float) -> bool:
        """Whether nodes may still write, in one attempt or in any."""
        record = self.record()
        is_last = attempt is None or attempt + 1 >= record.attempts
        return is_last and record.state_at(now) is RunState.RUNNING

    def _metric_lines(self) -> Iterator[tuple[str, bytes]]:
        for rank, attempt in self._nodes_in(self._paths.metrics):
            yield from self._points_in(self._paths.node_metrics(rank, attempt))

    def _points_in(self, folder: str, after: int = 0) -> Iterator[tuple[str, bytes]]:
        for segment in read_segments(self.project, folder, after=after):
            for number, line in enumerate(segment.data.splitlines(), start=1):
                yield f"{folder}, segment {segment.number}, line {number}", line

    def _nodes_in(self, folder: str) -> list[tuple[int, int]]:
        """Returns rank and attempt of all that have something in a folder, in order."""
        try:
            entries = self.project.list(folder)
        except PathNotFound:
            return []
        return sorted(owner for entry in entries if (owner := rank_and_attempt(entry.name)) is not None)
