"""What a node leaves behind: its log, its metrics and its outcome, written by its supervisor."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from hopyard.store import Project, SegmentWriter
from hopyard.tracking.codec import encode_file, encode_line
from hopyard.tracking.node_log import free_part, join_segments
from hopyard.tracking.paths import LogPart, run_paths
from hopyard.tracking.records import MetricPoint, NodeOutcome
from hopyard.tracking.runid import RunId


class NodeWriter:
    """Writes the log, the metrics and the outcome of one node of a run.

    It pickles as its recipe and asks nothing of the store until it is first used, on the executor. Methods may
    be called from several threads. Lines and points reach the store in segments: the owner calls `poll` about
    every second, and `close` at the end. What a failing store did not take is kept for the next call.
    """

    def __init__(self, project: Project, run_id: RunId, rank: int) -> None:
        """Prepares to write for the node of this rank."""
        self._project = project
        self._run_id = run_id
        self._rank = rank
        self._paths = run_paths(project, run_id)
        self._metrics = SegmentWriter(project, self._paths.node_metrics(rank))
        self._log: SegmentWriter | None = None
        self._part: LogPart | None = None
        self._closed = False
        self._opening = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return NodeWriter, (self._project, self._run_id, self._rank)

    def log(self, line: bytes | str) -> None:
        """Adds a line of output, with or without its line end."""
        data = line.encode("utf-8", "backslashreplace") if isinstance(line, str) else line
        with self._opening:
            self._check_open()
            self._open_log().append(data)

    def metric(self, point: MetricPoint) -> None:
        """Adds a point of a metric."""
        line = encode_line(point)
        with self._opening:
            self._check_open()
            self._metrics.append(line)

    def final_metric(self, value: float | str) -> None:
        """Writes what the training function returned as text, where the Hops library had it."""
        self._project.put(self._paths.metric, str(value).encode("utf-8"))

    def outcome(self, outcome: NodeOutcome) -> None:
        """Writes how the node ended; a node that was started again replaces its earlier outcome."""
        self._project.put(self._paths.outcome(self._rank), encode_file(outcome))

    def poll(self) -> None:
        """Writes what is due; cheap enough to call often."""
        for stream in self._streams():
            stream.poll()

    def flush(self) -> None:
        """Writes all that there is, due or not."""
        for stream in self._streams():
            stream.flush()

    def close(self) -> None:
        """Writes all that there is and joins the log into one logfile.

        If the store fails, a later call takes up where this one stopped; after a success it does nothing.
        """
        with self._opening:
            self._closed = True
        self.flush()
        if self._part is not None:
            join_segments(self._project, self._part)
            self._part = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _streams(self) -> tuple[SegmentWriter, ...]:
        return (self._metrics,) if self._log is None else (self._log, self._metrics)

    def _open_log(self) -> SegmentWriter:
        if self._log is None:
            self._part = free_part(self._project, self._paths, self._rank)
            self._log = SegmentWriter(self._project, self._part.segments, suffix=".log")
        return self._log

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"the writer of node {self._rank} of run {self._run_id} is closed")
