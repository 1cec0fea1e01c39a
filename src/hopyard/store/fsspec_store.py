"""Object stores that fsspec speaks to and that can create a file only if it is not there: Google Cloud Storage, Azure."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import fsspec
from fsspec import AbstractFileSystem

from hopyard.errors import (
    AlreadyExists,
    FolderNotEmpty,
    HopyardError,
    InvalidName,
    IsAFolder,
    NotAFolder,
    PathNotFound,
    RootUnusable,
    StoreFailed,
)
from hopyard.store.filesystem import Capabilities, Entry, Server, name_of
from hopyard.store.location import Location
from hopyard.store.names import TEMPORARY_PREFIX
from hopyard.store.options import check_options, parameters

# Files up to this size are sent and read in one request.
_PIECE_BYTES = 16 << 20
# Keeps an empty folder there; a name that no listing of a project shows.
_PLACEHOLDER = f"{TEMPORARY_PREFIX}folder"
_TIMES = ("mtime", "updated", "last_modified", "LastModified", "modified", "created")
_VERSIONS = ("etag", "ETag", "generation", "md5Hash", "crc32c", *_TIMES, "size")
_BUCKET = "Make the bucket or container, or correct HOPYARD_ROOT (or --root)"
_RIGHTS = "Check the credentials in HOPYARD_STORAGE_OPTIONS, in the words of {package}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional:
    """A package whose ``pipe_file`` and ``put_file`` with ``mode="create"`` are one conditional request.

    Attributes:
        package: What to import.
        server: Where the store is if its file system does not tell.
        lost_ends: Ends of names that the package loses in its listings.
    """

    package: str
    server: str
    lost_ends: tuple[str, ...] = ()


# A protocol is here only if its package does that: fsspec itself has a "create" that looks first and writes then, which
# two writers at once both pass.
_GOOGLE = Conditional(package="gcsfs", server="https://storage.googleapis.com")
_AZURE = Conditional(package="adlfs", server="https://blob.core.windows.net", lost_ends=(" ",))
CONDITIONAL = {"gs": _GOOGLE, "gcs": _GOOGLE, "abfs": _AZURE, "abfss": _AZURE, "az": _AZURE}


class FsspecStore:
    """A `FileSystem` over one of fsspec's, on a store of objects.

    An object appears whole, and one conditional request makes it write-once. That the server keeps to the condition is
    tried with the first file. Folders are what paths have in common; `mkdir` leaves an empty, hidden
    file. There is no rename: `move` copies through this machine.

    Args:
        files: The file system of fsspec; it must not keep listings.
        location: Where the root of the project is.
        server: Who answers.
        conditional: What speaks to it.
    """

    capabilities = Capabilities()

    def __init__(
        self, files: AbstractFileSystem, location: Location, *, server: Server, conditional: Conditional
    ) -> None:
        self._files = files
        self._bucket = location.authority.partition("@")[0]
        self._base = location.base
        self._server = server
        self._package = conditional.package
        self._lost_ends = conditional.lost_ends
        self._keeps_conditions = False

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system of a bucket or container; `options` are the arguments of the package's file system.

        Raises:
            UnknownStorageOption: It has no such argument.
        """
        conditional = CONDITIONAL[location.protocol]
        kind = fsspec.get_filesystem_class(location.protocol)
        check_options(location, options, _options_of(kind))
        given = {**kind._get_kwargs_from_urls(str(location)), **options}  # noqa: SLF001  fsspec's own way from a URL to a connection
        files = kind(**{"use_listings_cache": False, **given, "skip_instance_cache": True})
        return cls(files, location, server=_server_of(files, conditional), conditional=conditional)

    def servers(self) -> tuple[Server, ...]:
        """See `FileSystem.servers`."""
        return (self._server,)

    def probe(self, path: str) -> None:
        """See `FileSystem.probe`."""
        try:
            if not self.info(path).is_dir:
                raise NotAFolder(self._url(path))
        except PathNotFound:
            self._probe_bucket(path)
        except PermissionError as error:
            raise self._refused(path, error) from error

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        self._check(path)
        with tempfile.NamedTemporaryFile() as content:
            for chunk in chunks:
                content.write(chunk)
            content.flush()
            self._send(path, content.name, mode="overwrite" if replace else "create")
            if not replace and not self._keeps_conditions:
                self._try_again(path, content.name)

    def _try_again(self, path: str, content: str) -> None:
        """Creates a file that was just created, once: a server that does not know the condition would overwrite in silence."""
        try:
            self._send(path, content, mode="create")
        except AlreadyExists:
            self._keeps_conditions = True
        else:
            raise StoreFailed(
                self._url(path),
                f"{self._package} or this server does not keep to the condition that a file is created only if it "
                "is not there; no file can be write-once",
            )

    def read(self, path: str) -> Iterator[bytes]:
        """See `FileSystem.read`."""
        found = self._found(path)
        if _is_folder(found):
            raise IsAFolder(self._url(path))
        size = int(found["size"] or 0)
        for start in range(0, size, _PIECE_BYTES):
            end = min(size, start + _PIECE_BYTES)
            # One request gets one version; of several the version is looked at after each.
            is_whole = size <= _PIECE_BYTES
            part = {} if is_whole else {"start": start, "end": end}
            piece: bytes = self._call(path, self._files.cat_file, **part)
            if not is_whole and _version(self._found(path)) != _version(found):
                raise StoreFailed(self._url(path), "it was replaced while it was read")
            yield piece

    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""
        return _entry(path, self._found(path))

    def list(self, path: str) -> Iterable[Entry]:
        """See `FileSystem.list`."""
        found = self._call(path, self._files.ls, detail=True)
        entries = {_below(self._bucket, each): each for each in found}
        if not _is_folder(entries.get(path, {"type": "directory"})):
            raise NotAFolder(self._url(path))
        return [_entry(inner, each) for inner, each in entries.items() if inner != path]

    def mkdir(self, path: str) -> None:
        """See `FileSystem.mkdir`."""
        self._check(path)
        try:
            if not self.info(path).is_dir:
                raise NotAFolder(self._url(path))
        except PathNotFound:
            self._call(f"{path}/{_PLACEHOLDER}", self._files.pipe_file, b"")

    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""
        if not self.info(path).is_dir:
            self._call(path, self._files.rm_file)
            return
        if not recursive and any(entry.name != _PLACEHOLDER for entry in self.list(path)):
            raise FolderNotEmpty(self._url(path))
        for inner in self._files_below(path):
            self._call(inner, self._files.rm_file)

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`; a copy and a removal, of a folder file by file."""
        entry = self.info(source)
        there = self._entry_at(target)
        if there is not None and (there.is_dir or entry.is_dir or not replace):
            raise AlreadyExists(self._url(target))
        for inner in self._files_below(source) if entry.is_dir else [source]:
            self.write(target + inner.removeprefix(source), self.read(inner), replace=replace)
            self._call(inner, self._files.rm_file)

    def _check(self, path: str) -> None:
        for name in path.split("/"):
            if self._lost_ends and name.endswith(self._lost_ends):
                raise InvalidName(
                    path[1:], f"{self._package} loses the end of the name {name!r} in its listings"
                )

    def _entry_at(self, path: str) -> Entry | None:
        try:
            return self.info(path)
        except PathNotFound:
            return None

    def _files_below(self, path: str) -> Iterable[str]:
        for entry in self.list(path):
            if entry.is_dir:
                yield from self._files_below(entry.path)
            else:
                yield entry.path

    def _found(self, path: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._call(path, self._files.info)
        return found

    def _send(self, path: str, content: str, *, mode: str) -> None:
        if os.path.getsize(content) <= _PIECE_BYTES:
            self._call(path, self._files.pipe_file, Path(content).read_bytes(), mode=mode)
        else:
            self._call(path, lambda target: self._files.put_file(content, target, mode=mode))

    def _probe_bucket(self, path: str) -> None:
        try:
            self._call("", self._files.info)
        except PathNotFound as error:
            reason = f"{self._server} has no bucket or container {self._bucket!r}"
            raise RootUnusable(self._url(path), reason, _BUCKET) from error
        except PermissionError as error:
            raise self._refused(path, error) from error

    def _refused(self, path: str, error: Exception) -> RootUnusable:
        reason = f"{self._server} does not let you in ({str(error).rstrip('.')})"
        return RootUnusable(self._url(path), reason, _RIGHTS.format(package=self._package))

    def _url(self, path: str) -> str:
        return f"{self._base}{path}"

    def _call(self, path: str, function: Callable[..., Any], *arguments: object, **more: object) -> Any:
        try:
            return function(f"{self._bucket}{path}", *arguments, **more)
        except (HopyardError, PermissionError):
            raise
        except FileNotFoundError as error:
            raise PathNotFound(self._url(path)) from error
        except FileExistsError as error:
            raise AlreadyExists(self._url(path)) from error
        except Exception as error:  # each package has errors of its own
            raise StoreFailed(self._url(path), f"{type(error).__name__}: {error}") from error


def _below(bucket: str, found: Mapping[str, Any]) -> str:
    """Returns the path of something in its bucket, from the name that fsspec gives it."""
    return "/" + str(found["name"]).strip("/").removeprefix(bucket).strip("/")


def _is_folder(found: Mapping[str, Any]) -> bool:
    return bool(found["type"] == "directory")


def _entry(path: str, found: Mapping[str, Any]) -> Entry:
    is_dir = _is_folder(found)
    return Entry(
        name=name_of(path),
        path=path,
        size=0 if is_dir else int(found["size"] or 0),
        is_dir=is_dir,
        modified=0.0 if is_dir else _modified(found),
    )


def _modified(found: Mapping[str, Any]) -> float:
    for name in _TIMES:
        value = found.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, str) and value:
            return datetime.fromisoformat(value).timestamp()
        if isinstance(value, (int, float)):
            return float(value)
    return 0.0


def _version(found: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(found.get(name)) for name in _VERSIONS)


def _options_of(kind: type[AbstractFileSystem]) -> set[str]:
    """Returns the names of all arguments; a class may hand on what the one above it knows."""
    more = {"use_listings_cache", "skip_instance_cache", "batch_size"}
    return more.union(*(parameters(each) for each in kind.__mro__ if "__init__" in vars(each)))


def _server_of(files: AbstractFileSystem, conditional: Conditional) -> Server:
    told = getattr(getattr(files, "service_client", None), "url", None) or getattr(files, "_endpoint", None)
    url = urlsplit(str(told or conditional.server))
    port = url.port or (80 if url.scheme == "http" else 443)
    return Server(
        host=url.hostname or "", port=port, role=f"a server of {conditional.package}", proxied_as=url.scheme
    )
