"""Keeps a copy of a local folder in the project while a program writes into it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from hopyard.errors import FilesNotStored, HopyardError, StoreFailed
from hopyard.store.filesystem import CHUNK_BYTES
from hopyard.store.localtree import LocalFile, Refused, local_files
from hopyard.store.names import check_file, storable
from hopyard.store.project import Project

USER_SUFFIX = ".user"
# A file may change twice within one tick of a file system's clock (2 s on the coarsest). Its time says
# nothing yet while it is as young as that.
_SETTLED_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What one pass did.

    Attributes:
        copied: Paths of the files that were copied, relative to the local folder.
        renamed: Pairs of a path and the path that it was stored as, because the name was taken.
        refused: Pairs of a path and the reason why it is not for the project: a link that leads out, a socket.
        failed: Pairs of a path and the reason why it is not in the project yet.
        size: Bytes that were copied.
    """

    copied: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True)
class _Signature:
    size: int
    modified_ns: int
    inode: int


class FolderSync:
    """Copies what is new or changed in a local folder to a folder of the project; never removes anything.

    Each file arrives whole. A file that grows meanwhile arrives as it was at the start; one that is
    rewritten or vanishes is left for the next pass. Symbolic links are followed inside the folder;
    those that lead out of it are not copied, and the report says so.

    Args:
        project: Where to copy to.
        local: Folder to copy from; it may not be there yet.
        relative: Folder of the project to copy into.
        reserved: Names, or patterns of names, at the top of that folder that are not the program's:
            its file ``run.json`` is stored as ``run.json.user``. Likewise a name that not every store can
            hold is stored with the character spelled out: ``at%3A12`` for ``at:12``.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        project: Project,
        local: Path,
        relative: str,
        reserved: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._project = project
        self._local = local
        self._relative = check_file(relative)
        self._reserved = reserved
        self._clock = clock
        self._stored: dict[str, _Signature] = {}

    def sync(self) -> SyncReport:
        """Copies what is new or changed since the last pass; a file that fails is tried again next time."""
        copied: list[str] = []
        renamed: list[tuple[str, str]] = []
        refused: list[tuple[str, str]] = []
        failed: list[tuple[str, str]] = []
        size = 0
        for item in local_files(self._local, confined=True):
            if isinstance(item, Refused):
                refused.append((item.relative, item.reason))
                continue
            stored_as = self.stored_as(item.relative)
            if stored_as != item.relative:
                renamed.append((item.relative, stored_as))
            try:
                arrived = self._copy_if_changed(item, stored_as)
            except (OSError, HopyardError) as error:
                failed.append((item.relative, str(error)))
                continue
            if arrived is not None:
                copied.append(item.relative)
                size += arrived
        return SyncReport(
            copied=tuple(copied),
            renamed=tuple(renamed),
            refused=tuple(refused),
            failed=tuple(failed),
            size=size,
        )

    def final(self) -> SyncReport:
        """Copies what is left, when nobody writes any more.

        Raises:
            FilesNotStored: Some files could not be copied; it names them all.
        """
        report = self.sync()
        if report.failed:
            raise FilesNotStored(str(self._local), report.failed)
        return report

    def stored_as(self, relative: str) -> str:
        """Returns the path, below the folder in the project, of a file of the local folder."""
        first, slash, rest = storable(relative).partition("/")
        plain = first
        # Also a user's own `run.json.user` makes way, so that no two files are stored as one.
        while plain.endswith(USER_SUFFIX):
            plain = plain.removesuffix(USER_SUFFIX)
        if any(fnmatchcase(plain, pattern) for pattern in self._reserved):
            return f"{first}{USER_SUFFIX}{slash}{rest}"
        return f"{first}{slash}{rest}"

    def _copy_if_changed(self, file: LocalFile, stored_as: str) -> int | None:
        """Copies a file unless it is stored already; returns the bytes, or None if there was nothing to do."""
        try:
            descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb", buffering=0) as content:
            before = _signature(content.fileno())
            if self._stored.get(file.relative) == before:
                return None
            self._project.write_chunks(
                f"{self._relative}/{stored_as}", _snapshot(content.fileno(), file, before), overwrite=True
            )
        if self._clock() - before.modified_ns / 1e9 > _SETTLED_SECONDS:
            self._stored[file.relative] = before
        return before.size


def _signature(descriptor: int) -> _Signature:
    status = os.fstat(descriptor)
    return _Signature(status.st_size, status.st_mtime_ns, status.st_ino)


def _snapshot(descriptor: int, file: LocalFile, before: _Signature) -> Iterator[bytes]:
    """Yields the bytes that a file had at first.

    Raises:
        StoreFailed: It was rewritten meanwhile, so that the copy would be a mixture.
    """
    left = before.size
    while left and (chunk := os.read(descriptor, min(left, CHUNK_BYTES))):
        left -= len(chunk)
        yield chunk
    after = _signature(descriptor)
    grew = after.size > before.size
    if left or (after != before and not grew):
        raise StoreFailed(str(file.path), "it changed while it was copied")
