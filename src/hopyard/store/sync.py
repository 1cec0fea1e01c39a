"""Keeps a copy of a local folder in the project while a program writes into it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from hopyard.errors import FilesNotStored, HopyardError, StoreFailed
from hopyard.store.filesystem import CHUNK_BYTES
from hopyard.store.local.scan import Look
from hopyard.store.local.tree import LocalFile, Signature
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


@dataclass(slots=True)
class _Pass:
    """What has become of files so far: the bytes of those that arrived, the reasons of those that did not."""

    arrived: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class FolderSync:
    """Copies what is new or changed in a local folder to a folder of the project; never removes anything.

    Each file arrives whole. A file that grows meanwhile arrives as it was at the start; one that is
    rewritten or vanishes is left for the next pass. Symbolic links are followed inside the folder;
    those that lead out of it are not copied, and the report says so.

    Files arrive in the order in which they were written, so that the index of a checkpoint, which is written
    last, never points to what is not there yet. What is being written while the folder is looked through waits:
    something older may have been overlooked. Only files that do nothing but grow, as logs do, do not wait.

    Args:
        project: Where to copy to.
        local: Folder to copy from; it may not be there yet.
        relative: Folder of the project to copy into.
        reserved: Names, or patterns of names, at the top of that folder that are not the program's:
            its file ``run.json`` is stored as ``run.json.user``. Likewise a name that not every store can
            hold is stored with the character spelled out: ``at%3A12`` for ``at:12``.
        clock: Seconds since 1970.
        in_order: Copy nothing that is newer than a file that could not be copied. Otherwise a file that fails
            holds up no other.
    """

    def __init__(
        self,
        project: Project,
        local: Path,
        relative: str,
        reserved: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.time,
        *,
        in_order: bool = False,
    ) -> None:
        self._project = project
        self._local = local
        self._relative = check_file(relative)
        self._reserved = reserved
        self._clock = clock
        self._in_order = in_order
        self._stored: dict[str, Signature] = {}
        self._look = Look()

    def sync(self) -> SyncReport:
        """Copies what is new or changed since the last pass; a file that fails is tried again next time."""
        so_far = _Pass()
        if not self._copy_settled(so_far):
            # What was written since the last pass is settled if it is the same at a second look.
            self._copy_rest(so_far)
        return self._report(so_far)

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

    def _report(self, so_far: _Pass) -> SyncReport:
        names = sorted((file.relative, self.stored_as(file.relative)) for file in self._look.files)
        return SyncReport(
            copied=tuple(so_far.arrived),
            renamed=tuple((name, stored_as) for name, stored_as in names if name != stored_as),
            refused=tuple((item.relative, item.reason) for item in self._look.refused),
            failed=tuple(so_far.failed.items()),
            size=sum(so_far.arrived.values()),
        )

    def _copy_settled(self, so_far: _Pass) -> bool:
        """Copies files up to the first one that has to wait; returns whether there was none."""
        for file in self._missing(so_far):
            if not self._look.is_settled(file) or not self._copy(file, so_far):
                return False
        return True

    def _copy_rest(self, so_far: _Pass) -> None:
        """Copies all files that can be, and notes why the others cannot."""
        for file in self._missing(so_far):
            waits = not self._look.is_settled(file) and not self._look.is_growing(file)
            if waits or not self._copy(file, so_far, may_have_grown=True):
                so_far.failed[file.relative] = "it is being written"

    def _missing(self, so_far: _Pass) -> Iterator[LocalFile]:
        """Looks at the folder and yields the files that are to be copied, oldest first."""
        self._look = self._look.again(self._local)
        for file in self._look.files:
            path = file.relative
            if path in so_far.arrived or path in so_far.failed or self._stored.get(path) == file.signature:
                continue
            if self._in_order and so_far.failed:
                so_far.failed[path] = f"it waits for {next(iter(so_far.failed))}, which is older"
            else:
                yield file

    def _copy(self, file: LocalFile, so_far: _Pass, *, may_have_grown: bool = False) -> bool:
        """Copies a file; returns False if nothing was done because it has changed since it was looked at."""
        try:
            descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return True
        except OSError as error:
            so_far.failed[file.relative] = str(error)
            return True
        with os.fdopen(descriptor, "rb", buffering=0):
            version = _signature(descriptor)
            if version != file.signature and not (may_have_grown and file.signature.grew_to(version)):
                return False
            try:
                self._store(file, descriptor, version)
            except (OSError, HopyardError) as error:
                so_far.failed[file.relative] = str(error)
            else:
                so_far.arrived[file.relative] = version.size
        return True

    def _store(self, file: LocalFile, descriptor: int, version: Signature) -> None:
        path = f"{self._relative}/{self.stored_as(file.relative)}"
        self._project.write_chunks(path, _snapshot(descriptor, file, version), overwrite=True)
        if self._clock() - version.modified_ns / 1e9 > _SETTLED_SECONDS:
            self._stored[file.relative] = version


def _signature(descriptor: int) -> Signature:
    return Signature.of(os.fstat(descriptor))


def _snapshot(descriptor: int, file: LocalFile, before: Signature) -> Iterator[bytes]:
    """Yields the bytes that a file had at first.

    Raises:
        StoreFailed: It was rewritten meanwhile, so that the copy would be a mixture.
    """
    left = before.size
    while left and (chunk := os.read(descriptor, min(left, CHUNK_BYTES))):
        left -= len(chunk)
        yield chunk
    after = _signature(descriptor)
    if left or (after != before and not before.grew_to(after)):
        raise StoreFailed(str(file.path), "it changed while it was copied")
