"""Lines of one writer that only grow, each safe once it is committed: on any store, at the store's own price.

On a file system it is a file that is appended to, which other programs can read as it is. Stores that cannot
append hold a folder of segments under the same name.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from hopyard.errors import AlreadyExists, JournalTaken, PathNotFound
from hopyard.store.project import Project
from hopyard.store.segments import SegmentWriter, read_segments

LOG = logging.getLogger(__name__)
SUFFIX = ".jsonl"
WRITERS = "writers"
OVER = ".over"

IsLeft = Callable[[str, bytes], bool]


class Journal:
    """A journal that this process writes; threads may share it.

    On a file system the kernel sees to it that there is one writer: a dead one holds up nobody. Elsewhere writers leave
    files that say who they are, and whoever comes next decides whether the last of them is gone.

    Args:
        project: Where it is kept.
        path: Its path in the project.
        owner: What such a file says of this writer.
        is_left: Tells, by path and content of such a file, whether its writer is gone.

    Raises:
        JournalTaken: Another process writes it.
    """

    def __init__(
        self,
        project: Project,
        path: str,
        *,
        owner: bytes = b"",
        is_left: IsLeft = lambda _path, _owner: False,
    ) -> None:
        local = project.local_path(path) if _is_file(project) else None
        self._file: _File | _Segments
        if local is None:
            self._file = _Segments(project, path, _Turn(project, path, owner, is_left))
        else:
            self._file = _File(local)

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
            raise JournalTaken(str(path), "the kernel knows which") from None
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

    def __init__(self, project: Project, path: str, turn: _Turn) -> None:
        self._writer = SegmentWriter(project, path, suffix=SUFFIX)
        self._turn = turn

    def append(self, line: bytes) -> None:
        self._writer.append(line)

    def commit(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self.commit()
        self._turn.end()


class _Turn:
    """The turn of one writer, on a store whose one promise is that a file is created once.

    Writers have numbers, and the last one has the turn. Who finds it gone creates the file of the next number; of several
    who find that, one succeeds. Numbers only grow, so that a writer which was wrongly taken for gone sets nobody free.
    """

    def __init__(self, project: Project, path: str, owner: bytes, is_left: IsLeft) -> None:
        self._project = project
        folder = f"{path}/{WRITERS}"
        names = self._names(folder)
        numbers = sorted(int(name) for name in names if name.isdecimal())
        last = numbers[-1] if numbers else 0
        if numbers and f"{last}{OVER}" not in names:
            found = self._owner(f"{folder}/{last}")
            if found is None or not is_left(f"{folder}/{last}", found):
                raise JournalTaken(path, _text(found))
        self._path = f"{folder}/{last + 1}"
        try:
            project.create(self._path, owner)
        except AlreadyExists:
            raise JournalTaken(path, _text(self._owner(self._path))) from None
        self._clear(f"{folder}/{name}" for name in names)

    def end(self) -> None:
        """Lets others write; after the first time it does nothing."""
        try:
            self._project.create(f"{self._path}{OVER}", b"")
        except AlreadyExists:
            return
        except OSError as error:  # all lines are in the store, and whoever comes next judges by other signs
            LOG.info("the end of a writer was not recorded: %s", error)

    def _names(self, folder: str) -> set[str]:
        try:
            return {entry.name for entry in self._project.list(folder)}
        except PathNotFound:
            return set()

    def _owner(self, path: str) -> bytes | None:
        try:
            return self._project.read(path)
        except PathNotFound:  # a later writer has cleared it away
            return None

    def _clear(self, paths: Iterable[str]) -> None:
        """Removes the files of earlier writers, which say nothing any more."""
        for path in paths:
            with suppress(PathNotFound):
                self._project.remove(path)


def _text(owner: bytes | None) -> str:
    return "" if owner is None else owner.decode(errors="replace")
