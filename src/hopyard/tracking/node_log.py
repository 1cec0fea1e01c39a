"""The log of a node, in parts: one for each time the node was started.

A part is a stream of bytes: numbered segments while its writer lives, one logfile afterwards. The logfile is
exactly the segments joined, so a reader needs only to know how many bytes it has seen, whichever form it
meets next. Where both exist the logfile wins: segments are removed once it is in place, the last one first,
so that those which remain are always the beginning of the part.
"""

from __future__ import annotations

from collections.abc import Iterator

from hopyard.errors import CorruptRecord, PathNotFound
from hopyard.store import Project, RunPaths, read_segments
from hopyard.tracking.paths import LogPart, log_part

# Each further look means that the part changed its form under the last one, which it does once in its life.
_LOOKS = 3


def free_part(project: Project, paths: RunPaths, rank: int) -> LogPart:
    """Returns the first part of a node's log in which nobody has written."""
    number = 0
    while _part_exists(project, log_part(paths, rank, number)):
        number += 1
    return log_part(paths, rank, number)


def join_segments(project: Project, part: LogPart) -> None:
    """Turns the segments of a part into its logfile; a reader at any moment finds every line once.

    May be called again after it failed half-way.
    """
    # A logfile is whole or not there. To write it again could lose lines: segments may be gone already.
    if not project.exists(part.logfile):
        segments = read_segments(project, part.segments)
        project.write_chunks(part.logfile, (segment.data for segment in segments), overwrite=False)
    for path in reversed(_files_in(project, part.segments)):
        project.remove(path)


class LogCursor:
    """A place in the log of a node; each `read` goes on where the last one ended."""

    def __init__(self, project: Project, paths: RunPaths, rank: int) -> None:
        """Starts at the beginning of the log of the node of this rank."""
        self._project = project
        self._paths = paths
        self._rank = rank
        self._number = 0
        self._part = _PartCursor(project, log_part(paths, rank, 0))

    def read(self) -> Iterator[bytes]:
        """Yields what the log has gained since the last call, line by line, without line ends.

        To be consumed to its end: lines that were left in it do not come again.

        Raises:
            CorruptRecord: A segment of the log is missing.
        """
        while True:
            following = log_part(self._paths, self._rank, self._number + 1)
            # Before the reading: a part that has a follower grows no more, so all of it is read then.
            is_followed = _part_exists(self._project, following)
            yield from _lines(self._part.read())
            if not is_followed:
                return
            self._number += 1
            self._part = _PartCursor(self._project, following)


class _PartCursor:
    """A place in one part of a log."""

    def __init__(self, project: Project, part: LogPart) -> None:
        self._project = project
        self._part = part
        self._offset = 0
        self._after = 0
        self._complete = False

    def read(self) -> Iterator[bytes]:
        """Yields the new bytes in pieces of any size; together they are whole lines."""
        if self._complete:
            return
        for _ in range(_LOOKS):
            if self._project.exists(self._part.logfile):
                yield from self._read_logfile()
                return
            try:
                yield from self._read_segments()
            except PathNotFound:
                # Removed between the listing and the reading: it is in the logfile by now.
                continue
            if not self._project.exists(self._part.logfile):
                return
        raise CorruptRecord(self._part.segments, f"segment {self._after + 1} is missing")

    def _read_logfile(self) -> Iterator[bytes]:
        position = 0
        for chunk in self._project.read_chunks(self._part.logfile):
            fresh = chunk[max(0, self._offset - position) :]
            position += len(chunk)
            self._offset = max(self._offset, position)
            yield fresh
        self._complete = True

    def _read_segments(self) -> Iterator[bytes]:
        for segment in read_segments(self._project, self._part.segments, after=self._after):
            if segment.number != self._after + 1:
                # The one between was removed while the store listed the folder.
                raise PathNotFound(self._part.segments)
            self._after = segment.number
            self._offset += len(segment.data)
            yield segment.data


def _part_exists(project: Project, part: LogPart) -> bool:
    # Segments first: they are removed only when the logfile is there, so one of both looks succeeds.
    return bool(_files_in(project, part.segments)) or project.exists(part.logfile)


def _files_in(project: Project, folder: str) -> list[str]:
    try:
        return [entry.path for entry in project.list(folder)]
    except PathNotFound:
        return []


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest
