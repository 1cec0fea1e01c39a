"""Files in this process, for tests and first steps: fsspec's memory store with the promises of a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

from hopyard.errors import AlreadyExists, FolderNotEmpty, IsAFolder, NotAFolder, PathNotFound
from hopyard.store.filesystem import Entry, name_of, parent_of
from hopyard.store.location import Location


class MemoryStore:
    """A `FileSystem` over the dictionary of fsspec's ``memory://``, which sees the same files.

    Single operations on a dictionary are atomic, so no lock is needed, and none can be left held by a
    fork. Other processes have a memory of their own.
    """

    def __init__(self, prefix: str) -> None:
        self._memory = MemoryFileSystem()
        self._prefix = prefix

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system; ``memory://a/b`` and fsspec's ``/a/b`` are the same file."""
        del options
        return cls(f"/{location.authority}" if location.authority else "")

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        content = b"".join(chunks)
        key = self._prefix + path
        self._check_parents(key)
        if self._is_folder(key):
            raise (IsAFolder if replace else AlreadyExists)(self._url(key))
        file = MemoryFile(self._memory, key, content)
        if replace:
            self._memory.store[key] = file
        elif self._memory.store.setdefault(key, file) is not file:
            raise AlreadyExists(self._url(key))

    def read(self, path: str) -> Iterator[bytes]:
        """See `FileSystem.read`."""
        key = self._prefix + path
        file = self._memory.store.get(key)
        if file is None:
            raise (IsAFolder if self._is_folder(key) else PathNotFound)(self._url(key))
        yield file.getvalue()

    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""
        key = self._prefix + path
        file = self._memory.store.get(key)
        if file is None and not self._is_folder(key):
            raise PathNotFound(self._url(key))
        return self._entry(key, file)

    def list(self, path: str) -> Iterable[Entry]:
        """See `FileSystem.list`."""
        key = self._prefix + path
        if key in self._memory.store:
            raise NotAFolder(self._url(key))
        if not self._is_folder(key):
            raise PathNotFound(self._url(key))
        files = self._memory.store.copy()
        names = {below.removeprefix(f"{key}/").partition("/")[0] for below in self._below(key, files)}
        return [self._entry(f"{key}/{name}", files.get(f"{key}/{name}")) for name in names]

    def mkdir(self, path: str) -> None:
        """See `FileSystem.mkdir`."""
        key = self._prefix + path
        self._check_parents(key + "/")
        if not self._is_folder(key):
            self._memory.pseudo_dirs.append(key)

    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""
        key = self._prefix + path
        if self._memory.store.pop(key, None) is not None:
            self._keep_folder(parent_of(key))
            return
        if not self._is_folder(key):
            raise PathNotFound(self._url(key))
        below = self._below(key, self._memory.store.copy())
        if below and not recursive:
            raise FolderNotEmpty(self._url(key))
        self._keep_folder(parent_of(key))
        for gone in below:
            self._memory.store.pop(gone, None)
        doomed = {key, *below}
        # In place: all file systems of the process share this list.
        self._memory.pseudo_dirs[:] = [folder for folder in self._memory.pseudo_dirs if folder not in doomed]

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`."""
        start, end = self._prefix + source, self._prefix + target
        self._check_parents(end)
        file = self._memory.store.get(start)
        if file is None:
            self._move_folder(start, end)
            return
        if self._is_folder(end):
            raise AlreadyExists(self._url(end))
        self.write(target, [file.getvalue()], replace=replace)
        self._keep_folder(parent_of(start))
        self._memory.store.pop(start, None)

    def _move_folder(self, start: str, end: str) -> None:
        if not self._is_folder(start):
            raise PathNotFound(self._url(start))
        if end in self._memory.store or self._is_folder(end):
            raise AlreadyExists(self._url(end))
        self._keep_folder(start)
        self._keep_folder(end)
        for old in sorted(self._below(start, self._memory.store.copy())):
            new = end + old.removeprefix(start)
            file = self._memory.store.pop(old, None)
            if file is None:
                self._memory.pseudo_dirs.append(new)
            else:
                self._memory.store[new] = MemoryFile(self._memory, new, file.getvalue())
        self.remove(start.removeprefix(self._prefix), recursive=True)

    def _below(self, key: str, files: dict[str, MemoryFile]) -> set[str]:
        return {path for path in (*files, *self._memory.pseudo_dirs) if path.startswith(f"{key}/")}

    def _is_folder(self, key: str) -> bool:
        # Copies, made in one step: another thread may write meanwhile.
        paths = (*self._memory.pseudo_dirs.copy(), *self._memory.store.copy())
        return key in self._memory.pseudo_dirs or any(path.startswith(f"{key}/") for path in paths)

    def _keep_folder(self, key: str) -> None:
        """Makes a folder outlive its last file, as it does on a disk."""
        if key and key not in self._memory.pseudo_dirs:
            self._memory.pseudo_dirs.append(key)

    def _check_parents(self, key: str) -> None:
        parent = parent_of(key)
        while parent:
            if parent in self._memory.store:
                raise NotAFolder(self._url(parent))
            parent = parent_of(parent)

    def _entry(self, key: str, file: MemoryFile | None) -> Entry:
        return Entry(
            name=name_of(key),
            path=key.removeprefix(self._prefix),
            size=0 if file is None else file.size,
            is_dir=file is None,
            modified=0.0 if file is None else file.modified.timestamp(),
        )

    @staticmethod
    def _url(key: str) -> str:
        return f"memory:/{key}"
