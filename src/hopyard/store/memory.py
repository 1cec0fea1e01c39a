"""Files in this process, for tests and first steps: fsspec's memory store with the promises of a project."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

from hopyard.errors import AlreadyExists, FolderNotEmpty, IsAFolder, NotAFolder, PathNotFound
from hopyard.store.filesystem import Capabilities, Entry, Server, name_of, parent_of
from hopyard.store.location import Location


class MemoryStore:
    """A `FileSystem` over the dictionary of fsspec's ``memory://``, which sees the same files.

    Single operations on a dictionary are atomic, so no lock is needed, and none can be left held by a
    fork. Other processes have a memory of their own.
    """

    capabilities = Capabilities()

    def __init__(self, prefix: str) -> None:
        self._memory = MemoryFileSystem()
        self._prefix = prefix

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system; ``memory://a/b`` and fsspec's ``/a/b`` are the same file."""
        del options
        return cls(f"/{location.authority}" if location.authority else "")

    def servers(self) -> tuple[Server, ...]:
        """See `FileSystem.servers`."""
        return ()

    def probe(self, path: str) -> None:
        """See `FileSystem.probe`."""
        if self._prefix + path in self._memory.store:
            raise NotAFolder(self._url(self._prefix + path))

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        content = b"".join(chunks)
        key = self._prefix + path
        self._make_folder(parent_of(key))
        if key in self._memory.pseudo_dirs:
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
        self._make_folder(self._prefix + path)

    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""
        key = self._prefix + path
        if self._memory.store.pop(key, None) is not None:
            return
        if not self._is_folder(key):
            raise PathNotFound(self._url(key))
        below = self._below(key, self._memory.store.copy())
        if below and not recursive:
            raise FolderNotEmpty(self._url(key))
        for gone in below:
            self._memory.store.pop(gone, None)
        self._forget_folders({key, *below})

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`."""
        start, end = self._prefix + source, self._prefix + target
        file = self._memory.store.get(start)
        if file is None:
            self._move_folder(start, end)
            return
        if self._is_folder(end):
            raise AlreadyExists(self._url(end))
        self.write(target, [file.getvalue()], replace=replace)
        self._memory.store.pop(start, None)

    def _move_folder(self, start: str, end: str) -> None:
        if not self._is_folder(start):
            raise PathNotFound(self._url(start))
        if end in self._memory.store or self._is_folder(end):
            raise AlreadyExists(self._url(end))
        self._make_folder(end)
        below = self._below(start, self._memory.store.copy())
        for old in below:
            new = end + old.removeprefix(start)
            file = self._memory.store.pop(old, None)
            if file is None:
                self._make_folder(new)
            else:
                self._memory.store[new] = MemoryFile(self._memory, new, file.getvalue())
        self._forget_folders({start, *below})

    def _below(self, key: str, files: dict[str, MemoryFile]) -> set[str]:
        return {path for path in (*files, *self._memory.pseudo_dirs) if path.startswith(f"{key}/")}

    def _is_folder(self, key: str) -> bool:
        if key in self._memory.pseudo_dirs:
            return True
        # A copy, made in one step: another thread may write meanwhile.
        return any(path.startswith(f"{key}/") for path in self._memory.store.copy())

    def _make_folder(self, key: str) -> None:
        """Notes a folder and those above it, so that they outlive their files, as they do on a disk."""
        new = []
        while key and key not in self._memory.pseudo_dirs:
            if key in self._memory.store:
                raise NotAFolder(self._url(key))
            new.append(key)
            key = parent_of(key)
        self._memory.pseudo_dirs.extend(new)

    def _forget_folders(self, keys: set[str]) -> None:
        for key in keys:
            # More than once if two threads made it at the same time.
            while key in self._memory.pseudo_dirs:
                with contextlib.suppress(ValueError):  # another thread was first
                    self._memory.pseudo_dirs.remove(key)

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
