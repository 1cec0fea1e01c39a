"""Lines of one writer that only grow, each safe once it is committed: on any store, at the store's own price.

On a file system it is a file that is appended to, which other programs can read as it is. Stores that cannot
append hold a folder of segments under the same name.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from hopyard.errors import JournalTaken, PathNotFound
from hopyard.store.project import Project
from hopyard.store.segments import SegmentWriter, read_segments

SUFFIX = ".jsonl"


class Journal:
    """A journal that this process writes; threads may share it.

    On a file system the kernel sees to it that there is one writer: a dead one holds up nobody.

    Args:
        project: Where it is kept.
        path: Its path in the project.

    Raises:
        JournalTaken: Another process writes it.
    """

    def __init__(self, project: Project, path: str) -> None:
        local = project.local_path(path) if _is_file(project) else None
        self._file: _File | _Segments = _Segments(project, path) if local is None else _File(local)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, line: bytes) -> None:
        """Takes a line; it is safe after the next `commit`."""
        self._file.append(line + b"\n")

    def commit(self) -> None:
        """Returns when all lines that were taken before are in the store; callers at once share one write."""
        self._file.commit()

    def close(self) -> None:
        """Commits, and lets others write."""
        self._file.close()


def read_journal(project: Project, path: str) -> Iterator[bytes]:
    """Yields the whole lines of a journal, without their line ends; none if it does not exist.

    A line that its writer was killed over is not whole, and was never committed.
    """
    if not _is_file(project):
        for segment in read_segments(project, path):
            yield from segment.data.splitlines()
        return
    try:
        data = project.read(path)
    except PathNotFound:
        return
    yield from data[: data.rfind(b"\n") + 1].splitlines()


def _is_file(project: Project) -> bool:
    """Whether journals of a project are files; where nobody can be kept out of these, they are segments."""
    return project.capabilities.can_append and project.capabilities.can_lock


class _File:
    """A journal on a file system."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise JournalTaken(str(path)) from None
        self._drop_torn_line(path)
        self._lines: list[bytes] = []
        self._left = b""
        self._collecting = threading.Lock()
        self._writing = threading.Lock()

    def _drop_torn_line(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._descriptor, whole)

    def append(self, line: bytes) -> None:
        with self._collecting:
            self._lines.append(line)

    def commit(self) -> None:
        with self._writing:
            with self._collecting:
                lines, self._lines = self._lines, []
            self._left += b"".join(lines)
            while self._left:  # what a full disk did not take is tried again with the next commit
                self._left = self._left[os.write(self._descriptor, self._left) :]

    def close(self) -> None:
        if self._descriptor < 0:
            return
        self.commit()
        os.close(self._descriptor)
        self._descriptor = -1


class _Segments:
    """A journal on a store that cannot append."""

    def __init__(self, project: Project, path: str) -> None:
        self._writer = SegmentWriter(project, path, suffix=SUFFIX)

    def append(self, line: bytes) -> None:
        self._writer.append(line)

    def commit(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self.commit()
