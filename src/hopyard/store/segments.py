"""Lines that grow while a run goes on, kept as numbered write-once files: no store appends for us."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

from hopyard.errors import AlreadyExists, PathNotFound
from hopyard.store.project import Project

_SEGMENT = re.compile(r"(?P<number>\d{5,})(\.\w+)?")
# A segment comes after this part of the time that the writer has lived: in 10 hours about 1,300 files.
_PART_OF_AGE = 1 / 60
_BYTES_OF_LINE = 64  # what a line takes in memory beside its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One file of a sequence.

    Attributes:
        number: Its place, from 1. Numbers may be missing.
        data: Whole lines, each with its newline.
    """

    number: int
    data: bytes


class CollectedLines:
    """Lines in the order in which they came; of more than there is room for, the first and the newest are kept.

    Args:
        most_bytes: How much memory they may take.
        gap: Returns what is to be in the place of lines that were left out, given how many and of how many bytes.
    """

    def __init__(self, most_bytes: float, gap: Callable[[int, int], bytes]) -> None:
        self._room = most_bytes / 2  # for the first ones, and for the newest
        self._gap = gap
        self.clear()

    def __bool__(self) -> bool:
        return bool(self._first)

    @property
    def size(self) -> int:
        """How many bytes the lines have."""
        count = len(self._first) + len(self._newest)
        return self._first_size + self._newest_size - _BYTES_OF_LINE * count

    def clear(self) -> None:
        """Forgets all lines."""
        self._first: list[bytes] = []
        self._newest: deque[bytes] = deque()
        self._first_size = self._newest_size = self._lost = self._lost_bytes = 0

    def append(self, line: bytes) -> None:
        """Takes a line."""
        size = len(line) + _BYTES_OF_LINE
        if not self._newest and (not self._first or self._first_size + size <= self._room):
            self._first.append(line)
            self._first_size += size
            return
        self._newest.append(line)
        self._newest_size += size
        while self._newest_size > self._room and len(self._newest) > 1:
            lost = self._newest.popleft()
            self._newest_size -= len(lost) + _BYTES_OF_LINE
            self._lost += 1
            self._lost_bytes += len(lost)

    def joined(self) -> bytes:
        """Returns the lines as they are to be written."""
        gap = self._gap(self._lost, self._lost_bytes) if self._lost else b""
        return b"".join((*self._first, gap, *self._newest))


def no_word(lines: int, size: int) -> bytes:  # noqa: ARG001  lines that were left out, and their bytes
    """Returns nothing in the place of lines that were left out."""
    return b""


class SegmentWriter:
    """Collects lines and writes them as segments ``00001.jsonl``, ``00002.jsonl``, … of a folder.

    There is no thread inside: the owner calls `poll` from its loop, and that writes when it is time. Any
    thread may append. A line that was handed over is kept until a segment with it is in the store: if the
    store fails, the next flush tries again; what then comes is bounded by `most_bytes`. (A store that fails after it has written may so get lines
    twice, never none.) A writer that follows another one on the same folder goes on
    after its last number.

    Args:
        project: Where to write.
        folder: Folder of this writer alone, relative to the project.
        suffix: End of the file names.
        clock: Seconds that only grow.
        max_bytes: So many collected bytes make a segment at the next poll, whatever the time.
        first_interval: Seconds between segments at first.
        longest_interval: Seconds between segments at most; the interval grows with the age of the writer.
        most_bytes: How much memory lines may take that the store does not take; without a limit if not given. Of
            more lines, the first and the newest are kept.
        gap: Returns what is written in the place of lines that were left out, given how many and of how many bytes.
    """

    def __init__(
        self,
        project: Project,
        folder: str,
        suffix: str = ".jsonl",
        clock: Callable[[], float] = time.monotonic,
        max_bytes: int = 1 << 20,
        first_interval: float = 1.0,
        longest_interval: float = 30.0,
        most_bytes: float = math.inf,
        gap: Callable[[int, int], bytes] = no_word,
    ) -> None:
        self._project = project
        self._folder = folder
        self._suffix = suffix
        self._clock = clock
        self._max_bytes = max_bytes
        self._first_interval = first_interval
        self._longest_interval = longest_interval
        self._started = self._flushed = clock()
        self._lines = CollectedLines(most_bytes, gap)
        self._pending = b""  # taken from the lines, not known to be in the store
        self._in_doubt = False  # whether a failed attempt may have stored it all the same
        self._last_number: int | None = None
        self._collecting = threading.Lock()
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, line: bytes) -> None:
        """Takes one line; its newline is added if it has none."""
        whole = line if line.endswith(b"\n") else line + b"\n"
        with self._collecting:
            self._lines.append(whole)

    @property
    def untouched(self) -> bool:
        """Whether nothing was given to the store yet, so that no segment can hold a line of this writer."""
        return self._last_number is None

    def collected(self) -> bytes:
        """Returns what was handed over and is not known to be in the store; it stays here to be written."""
        with self._writing, self._collecting:
            return self._pending + self._lines.joined()

    def due(self) -> bool:
        """Whether it is time to write what was collected."""
        if not self._lines and not self._pending:
            return False
        return self._lines.size >= self._max_bytes or self._clock() - self._flushed >= self._interval()

    def poll(self) -> None:
        """Writes what was collected, if it is time."""
        if self.due():
            self.flush()

    def flush(self) -> None:
        """Writes what was collected now; nothing if there is nothing."""
        with self._writing:
            if self._pending:  # what an earlier flush could not write goes first, as a segment of its own
                self._write()
            with self._collecting:
                self._pending = self._lines.joined()
                self._lines.clear()
            if self._pending:
                self._write()
            self._flushed = self._clock()

    def close(self) -> None:
        """Writes the rest; the same as `flush`, for there is nothing else to give back."""
        self.flush()

    def _interval(self) -> float:
        grown = (self._clock() - self._started) * _PART_OF_AGE
        return min(max(grown, self._first_interval), self._longest_interval)

    def _write(self) -> None:
        if self._last_number is None:
            self._last_number = max(segment_numbers(self._project, self._folder), default=0)
        number = self._last_number + 1
        while not self._take(f"{self._folder}/{number:05d}{self._suffix}"):
            number += 1
        self._last_number = number
        self._pending = b""
        self._in_doubt = False

    def _take(self, path: str) -> bool:
        """Writes what is pending; False if the path is another writer's."""
        in_doubt, self._in_doubt = self._in_doubt, True
        try:
            self._project.create(path, self._pending)
        except AlreadyExists:
            self._in_doubt = in_doubt
            return in_doubt and self._project.read(path) == self._pending
        return True


def segment_numbers(project: Project, folder: str) -> list[int]:
    """Returns the numbers of all segments in a folder, in order; none if there is no folder."""
    return sorted(_segments(project, folder))


def read_segments(project: Project, folder: str, after: int = 0) -> Iterator[Segment]:
    """Yields the segments of a folder in order.

    Args:
        project: Where they are.
        folder: Folder of one `SegmentWriter`; it may not be there yet.
        after: Number of the last segment seen; only later ones are read.
    """
    paths = _segments(project, folder)
    for number in sorted(number for number in paths if number > after):
        yield Segment(number=number, data=project.read(paths[number]))


def _segments(project: Project, folder: str) -> dict[int, str]:
    try:
        entries = project.list(folder)
    except PathNotFound:
        return {}
    matches = ((_SEGMENT.fullmatch(entry.name), entry) for entry in entries if not entry.is_dir)
    return {int(match["number"]): entry.path for match, entry in matches if match}
