"""The log of a node as its readers see it: one text, though each attempt of the run wrote a file of its own.

What an attempt wrote is a stream of bytes: numbered segments while its writer lives, one logfile afterwards. The
logfile is exactly the segments joined, so a reader needs only to know how many bytes it has seen, whichever form
it meets next. Where both exist the logfile wins: segments are removed once it is in place, the last one first,
so that those which remain are always the beginning.

An attempt starts when the one before it has ended: a log that a later attempt has added to is complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from hopyard.errors import CorruptRecord, PathNotFound
from hopyard.store import Project, RunPaths, read_segments
from hopyard.store.layout import logfile_attempt, rank_and_attempt
from hopyard.tracking.paths import AttemptLog, attempt_log

# Each further look means that the log changed its form under the last one, which it does once in its life.
_LOOKS = 3


def log_attempts(project: Project, paths: RunPaths, rank: int) -> list[int]:
    """Returns the attempts in which a node has written to its log, in order; it may have been silent in others."""
    # Segments first: they are removed only when the logfile is there, so one of both looks finds the attempt.
    owners = [rank_and_attempt(name) for name in _names_in(project, paths.logs)]
    found = {owner[1] for owner in owners if owner is not None and owner[0] == rank}
    logfiles = (logfile_attempt(name) for name in _names_in(project, paths.node_logdir(rank)))
    return sorted(found | {attempt for attempt in logfiles if attempt is not None})


class LogCursor:
    """A place in the log of a node; each `read` goes on where the last one ended."""

    def __init__(self, project: Project, paths: RunPaths, rank: int, attempt: int | None = None) -> None:
        """Starts at the beginning of the log.

        Args:
            project: Where the run is.
            paths: Which run it is.
            rank: Whose log.
            attempt: Only what this attempt wrote; all attempts if None.
        """
        self._project = project
        self._paths = paths
        self._rank = rank
        self._only = attempt
        self._attempt = attempt or 0
        self._place = _Place(project, attempt_log(paths, rank, self._attempt))

    def read(self) -> Iterator[bytes]:
        """Yields what the log has gained since the last call, line by line, without line ends.

        To be consumed to its end: lines that were left in it do not come again.

        Raises:
            CorruptRecord: A segment of the log is missing.
        """
        # Before the reading: what has a follower grows no more, so all of it is read then.
        followers = self._followers()
        yield from _lines(self._place.read())
        for attempt in followers:
            self._attempt = attempt
            self._place = _Place(self._project, attempt_log(self._paths, self._rank, attempt))
            yield from _lines(self._place.read())

    def _followers(self) -> list[int]:
        if self._only is not None:
            return []
        attempts = log_attempts(self._project, self._paths, self._rank)
        return [attempt for attempt in attempts if attempt > self._attempt]


class _Place:
    """A place in what one attempt wrote."""

    def __init__(self, project: Project, log: AttemptLog) -> None:
        self._project = project
        self._log = log
        self._offset = 0
        self._after = 0
        self._complete = False

    def read(self) -> Iterator[bytes]:
        """Yields the new bytes in pieces of any size; together they are whole lines."""
        if self._complete:
            return
        for _ in range(_LOOKS):
            if self._project.exists(self._log.logfile):
                yield from self._read_logfile()
                return
            try:
                yield from self._read_segments()
            except PathNotFound:
                # Removed between the listing and the reading: it is in the logfile by now.
                continue
            if not self._project.exists(self._log.logfile):
                return
        raise CorruptRecord(self._log.segments, f"segment {self._after + 1} is missing")

    def _read_logfile(self) -> Iterator[bytes]:
        position = 0
        for chunk in self._project.read_chunks(self._log.logfile):
            fresh = chunk[max(0, self._offset - position) :]
            position += len(chunk)
            self._offset = max(self._offset, position)
            yield fresh
        self._complete = True

    def _read_segments(self) -> Iterator[bytes]:
        for segment in read_segments(self._project, self._log.segments, after=self._after):
            if segment.number != self._after + 1:
                # The one between was removed while the store listed the folder.
                raise PathNotFound(self._log.segments)
            self._after = segment.number
            self._offset += len(segment.data)
            yield segment.data


def _names_in(project: Project, folder: str) -> list[str]:
    try:
        return [entry.name for entry in project.list(folder)]
    except PathNotFound:
        return []


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest
