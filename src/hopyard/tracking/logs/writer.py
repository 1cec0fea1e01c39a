"""Writes the log of a node in one attempt: segments while it goes on, one logfile in the end."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator

from hopyard.errors import AlreadyExists, PathNotFound
from hopyard.store import Project, SegmentWriter, read_segments, segment_numbers
from hopyard.tracking.paths import AttemptLog


class LogWriter:
    """Writes one log; methods may be called from several threads, `append` not after `close`.

    A reader at any moment finds every line that was stored, once. The log has one writer. If it happens to have two
    all the same, no line is lost: a second writer goes on behind the segments of the first; where the first has
    made its logfile already, the lines of the second stay in segments, and `close` says so.
    """

    def __init__(self, project: Project, log: AttemptLog, *, most_bytes: float = math.inf) -> None:
        """Prepares to write; nothing is asked of the store yet.

        Args:
            project: Where to write.
            log: Which log it is.
            most_bytes: How much memory lines may take that the store does not take; of more, the log has the first
                and the newest, and says how many are missing.
        """
        self._project = project
        self._log = log
        self._segments = SegmentWriter(
            project, log.segments, suffix=".log", most_bytes=most_bytes, gap=_missing
        )
        self._tried = False  # whether the logfile may be in place, and then is ours
        self._closed = False
        self._storing = threading.Lock()

    def append(self, line: bytes) -> None:
        """Takes a line, with or without its line end; does not wait for the store."""
        self._segments.append(line)

    def poll(self) -> None:
        """Writes what is due; cheap enough to call often."""
        with self._storing:
            if not self._closed:
                self._segments.poll()

    def flush(self) -> None:
        """Writes all that there is, due or not."""
        with self._storing:
            if not self._closed:
                self._segments.flush()

    def close(self) -> None:
        """Writes what is left and makes the log one logfile.

        If the store fails, a later call takes up where this one stopped; after a success it does nothing.

        Raises:
            AlreadyExists: Another writer has ended the same log before; what this one wrote is in segments.
        """
        with self._storing:
            if not self._closed:
                self._end()
                self._closed = True

    def _end(self) -> None:
        if not self._segments.untouched:
            self._join()
        elif whole := self._segments.collected():
            # A short log needs no segments first: each small file may take half a second.
            if segment_numbers(self._project, self._log.segments):
                self._join()
            else:
                self._make_logfile(iter((whole,)))

    def _join(self) -> None:
        self._segments.flush()
        self._make_logfile(segment.data for segment in read_segments(self._project, self._log.segments))
        self._remove_segments()

    def _remove_segments(self) -> None:
        try:
            entries = self._project.list(self._log.segments)
        except PathNotFound:
            # An earlier call removed the last one, and not every store has empty folders.
            return
        # The last one first: those which remain are always the beginning of the log.
        for entry in reversed(entries):
            self._project.remove(entry.path)

    def _make_logfile(self, chunks: Iterator[bytes]) -> None:
        # A logfile is whole or not there. To write it again could lose lines: segments may be gone already.
        if self._tried and self._project.exists(self._log.logfile):
            return
        self._tried = True
        try:
            self._project.write_chunks(self._log.logfile, chunks, overwrite=False)
        except AlreadyExists:
            self._tried = False
            self._segments.flush()
            raise


def _missing(lines: int, size: int) -> bytes:
    text = f"[hopyard] the store was away for so long that {lines:,} lines ({size:,} bytes) are left out here"
    return f"{text}\n".encode()
