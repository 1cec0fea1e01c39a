"""Files on this machine, or on a disk that all machines mount."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from hopyard.errors import AlreadyExists, FolderNotEmpty, IsAFolder, NotAFolder, NotWritable, PathNotFound
from hopyard.store.filesystem import (
    CHUNK_BYTES,
    Capabilities,
    Entry,
    Server,
    name_of,
    parent_of,
    temporary_beside,
)
from hopyard.store.location import Location
from hopyard.store.names import TEMPORARY_PREFIX

_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class LocalFileSystem:
    """A `FileSystem` on the local disk.

    A whole file appears by renaming (to replace) or hard-linking (write-once) a temporary one, which
    holds against a killed process. Nothing is forced to the disk: a machine that loses power may lose
    the last seconds.
    """

    capabilities = Capabilities(can_append=True, can_lock=True)

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system; a local disk needs no options and takes no notice of them."""
        del location, options
        return cls()

    def servers(self) -> tuple[Server, ...]:
        """See `FileSystem.servers`."""
        return ()

    def probe(self, path: str) -> None:
        """See `FileSystem.probe`."""
        if os.path.isdir(path):
            return
        above = path
        while not os.path.lexists(above):
            above = parent_of(above) or "/"
        # Rights alone do not tell: root has all of them, also in /proc and on disks that are mounted read-only.
        trial = f"{above}/{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        try:
            os.mkdir(trial)
            os.rmdir(trial)
        except NotADirectoryError as error:
            raise NotAFolder(above) from error
        except OSError as error:
            raise OSError(f"no folder can be made in {above} ({error.strerror})") from error

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        with _rights(path):
            self._write(path, chunks, replace=replace)

    def _write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        temporary = temporary_beside(path)
        is_renamed = False
        try:
            _write_new(temporary, chunks)
            if replace:
                os.replace(temporary, path)
                is_renamed = True
            else:
                os.link(temporary, path)
        except FileExistsError as error:
            raise AlreadyExists(path) from error
        except IsADirectoryError as error:
            raise IsAFolder(path) from error
        finally:
            if not is_renamed:
                # Never there if it could not be opened.
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    os.unlink(temporary)

    def read(self, path: str) -> Iterator[bytes]:
        """See `FileSystem.read`."""
        try:
            file = open(path, "rb", buffering=0)  # noqa: SIM115  closed below; opening has its own errors
        except (FileNotFoundError, NotADirectoryError) as error:
            raise PathNotFound(path) from error
        except IsADirectoryError as error:
            raise IsAFolder(path) from error
        with file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""
        try:
            return _entry(path, os.stat(path))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise PathNotFound(path) from error

    def list(self, path: str) -> Iterable[Entry]:
        """See `FileSystem.list`."""
        entries = []
        try:
            with os.scandir(path) as children:
                for child in children:
                    # A file may vanish between the listing and the look at it: then it is not there.
                    with contextlib.suppress(FileNotFoundError):
                        entries.append(_entry(child.path, child.stat()))
        except FileNotFoundError as error:
            raise PathNotFound(path) from error
        except NotADirectoryError as error:
            raise (NotAFolder if os.path.exists(path) else PathNotFound)(path) from error
        return entries

    def mkdir(self, path: str) -> None:
        """See `FileSystem.mkdir`."""
        with _rights(path):
            _make_folder(path)

    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""
        entry = self.info(path)
        try:
            if not entry.is_dir or os.path.islink(path):
                os.unlink(path)
            elif recursive:
                shutil.rmtree(path)
            else:
                os.rmdir(path)
        except FileNotFoundError as error:
            raise PathNotFound(path) from error
        except OSError as error:
            if not recursive and entry.is_dir and os.listdir(path):
                raise FolderNotEmpty(path) from error
            raise

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`."""
        entry = self.info(source)
        _make_folder(parent_of(target))
        try:
            if not entry.is_dir and replace:
                os.replace(source, target)
            elif not entry.is_dir:
                os.link(source, target)
                os.unlink(source)
            elif os.path.lexists(target):
                raise AlreadyExists(target)
            else:
                os.rename(source, target)
        except (FileExistsError, IsADirectoryError) as error:
            raise AlreadyExists(target) from error
        except FileNotFoundError as error:
            raise PathNotFound(source) from error


def _write_new(path: str, chunks: Iterable[bytes]) -> None:
    try:
        descriptor = os.open(path, _NEW, 0o666)
    except (FileNotFoundError, NotADirectoryError):
        # Folders are made when one is missing, not asked for at each write.
        _make_folder(parent_of(path))
        descriptor = os.open(path, _NEW, 0o666)
    try:
        for chunk in chunks:
            _write_all(descriptor, chunk)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotAFolder(path) from error


@contextlib.contextmanager
def _rights(path: str) -> Iterator[None]:
    """Says which file cannot be written, and what to do, where the system forbids it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FORBIDDEN:
            raise
        raise NotWritable(path, str(error.strerror)) from error


def _entry(path: str, status: os.stat_result) -> Entry:
    is_dir = stat.S_ISDIR(status.st_mode)
    return Entry(
        name=name_of(path),
        path=path,
        size=0 if is_dir else status.st_size,
        is_dir=is_dir,
        modified=status.st_mtime,
    )
