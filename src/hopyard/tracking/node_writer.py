"""What a node leaves behind: its log, its metrics and its outcome, written by its supervisor."""

from __future__ import annotations

import dataclasses
import threading
from functools import partial
from types import TracebackType
from typing import Self

from hopyard.codec.records import encode_file, encode_line
from hopyard.store import Project, SegmentWriter
from hopyard.tracking.logs.writer import LogWriter
from hopyard.tracking.paths import attempt_log, run_paths
from hopyard.tracking.records import MetricPoint, NodeOutcome
from hopyard.tracking.runid import RunId

MOST_BYTES = 64 << 20


class NodeWriter:
    """Writes the log, the metrics and the outcome of one node in one attempt of a run.

    It pickles as its recipe and asks nothing of the store until it is first used, on the executor. Methods may
    be called from several threads. Lines and points reach the store in segments: the owner calls `poll` about
    every second, and `close` at the end. What a failing store did not take is kept for the next call, as far as there
    is room; what is left out, the log tells.

    Args:
        project: Where to write.
        run_id: The run.
        rank: The node.
        attempt: Which start of the run's nodes it is.
        most_bytes: How much memory may be taken by what the store does not take.
    """

    def __init__(
        self,
        project: Project,
        run_id: RunId,
        rank: int,
        attempt: int = 0,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._project = project
        self._run_id = run_id
        self._rank = rank
        self._attempt = attempt
        self._most_bytes = most_bytes
        self._paths = run_paths(project, run_id)
        # the rest is for what is on its way to the store just now
        self._log = LogWriter(project, attempt_log(self._paths, rank, attempt), most_bytes=most_bytes / 2)
        self._metrics = SegmentWriter(
            project,
            self._paths.node_metrics(rank, attempt),
            most_bytes=most_bytes / 4,
            gap=self._tell_missing_points,
        )
        self._closed = False
        self._appending = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        recipe = partial(NodeWriter, most_bytes=self._most_bytes)
        return recipe, (self._project, self._run_id, self._rank, self._attempt)

    def log(self, line: bytes | str) -> None:
        """Adds a line of output, with or without its line end."""
        data = line.encode("utf-8", "backslashreplace") if isinstance(line, str) else line
        with self._appending:
            self._check_open()
            self._log.append(data)

    def metric(self, point: MetricPoint) -> None:
        """Adds a point of a metric; it is stored as one of this attempt."""
        line = encode_line(dataclasses.replace(point, attempt=self._attempt))
        with self._appending:
            self._check_open()
            self._metrics.append(line)

    def final_metric(self, value: float | str) -> None:
        """Writes what the training function returned as text, where the Hops library had it."""
        self._project.put(self._paths.metric, str(value).encode("utf-8"))

    def outcome(self, outcome: NodeOutcome) -> None:
        """Writes how the node ended in this attempt; said again, the last word counts."""
        stored = dataclasses.replace(outcome, attempt=self._attempt)
        self._project.put(self._paths.outcome(self._rank, self._attempt), encode_file(stored))

    def poll(self) -> None:
        """Writes what is due; cheap enough to call often."""
        self._log.poll()
        self._metrics.poll()

    def flush(self) -> None:
        """Writes all that there is, due or not."""
        self._log.flush()
        self._metrics.flush()

    def close(self) -> None:
        """Writes all that there is, the log as one logfile.

        If the store fails, a later call takes up where this one stopped; after a success it does nothing.

        Raises:
            AlreadyExists: Another writer has ended the log of the same node and attempt before; what this one
                wrote is in segments.
        """
        with self._appending:
            self._closed = True
        try:
            self._metrics.flush()
        finally:
            self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _tell_missing_points(self, points: int, size: int) -> bytes:
        """Tells in the log of points that were left out, where a word among them could not be read."""
        text = (
            f"the store was away for so long that {points:,} values of metrics ({size:,} bytes) are left out"
        )
        self._log.append(f"[hopyard] {text}".encode())
        return b""

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"the writer of node {self._rank} of run {self._run_id} is closed")
