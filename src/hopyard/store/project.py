"""A project: one folder in any store, and all that is done with the files in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath

from hopyard.errors import AlreadyExists, BadArguments, InvalidName, PathNotFound
from hopyard.store import transfer
from hopyard.store.contact import make_contact
from hopyard.store.defaults import REACHED_VARIABLE, default_name, default_options, default_root, variables
from hopyard.store.filesystem import Capabilities, Entry, FileSystem, is_temporary
from hopyard.store.full_paths import is_full, relative_to
from hopyard.store.layout import PROJECTS, Layout
from hopyard.store.location import LOCAL, Location
from hopyard.store.names import AnyPath, as_text, check_file, check_folder, check_name
from hopyard.store.options import check_given_options
from hopyard.store.registry import connect, kind_of


class Project:
    """One folder ``<root>/Projects/<name>/`` in any store.

    A project is a value: it pickles as its recipe and connects when it is first used, once in each
    process. It may be shared by threads. Paths are relative to the project and separated by ``/``; full paths and
    URLs of what is in it are understood, too. Which names are allowed is the same on every store (see
    `hopyard.store.names`).

    Attributes:
        root: Local path or URL, without a trailing slash.
        name: Name of the project.
        layout: Where in the project things are.
    """

    def __init__(self, root: AnyPath, name: str, storage_options: Mapping[str, object] | None = None) -> None:
        location = Location.parse(root)
        kind_of(location)
        self.name = check_name(name)
        self.root = str(location) or "/"
        self.layout = Layout()
        self._options = dict(storage_options or {})
        self._folder = replace(location, path=f"{location.path}/{PROJECTS}/{name}")
        self._connection: tuple[int, FileSystem] | None = None

    @classmethod
    def open(
        cls,
        root: AnyPath | None = None,
        name: str | None = None,
        *,
        storage_options: Mapping[str, object] | None = None,
    ) -> Project:
        """Returns the project; nothing is made or asked of the store yet (see `reach`).

        Args:
            root: Local path or URL below which the projects are; the variable ``HOPYARD_ROOT`` or
                ``~/.hopyard`` if not given.
            name: The variable ``HOPYARD_PROJECT`` or the name of the user if not given.
            storage_options: How to connect, in the words of the store; the variable
                ``HOPYARD_STORAGE_OPTIONS`` (a JSON object) or nothing if not given.

        Raises:
            InvalidName: Root or name cannot be used.
            UnsupportedStore: Nobody here speaks the protocol of the root.
            InvalidSetting: ``HOPYARD_STORAGE_OPTIONS`` is not a JSON object.
            UnknownStorageOption: The store takes no options, and some were given; for other stores see `reach`.
        """
        place = root or default_root(os.environ)
        if storage_options is not None:
            check_given_options(Location.parse(place), storage_options)
        options = default_options(os.environ) if storage_options is None else storage_options
        return cls(place, name or default_name(os.environ), options)

    def reach(self, *, patiently: bool = False) -> None:
        """Makes sure that the store answers; the first call that needs the store does so by itself.

        Args:
            patiently: Ask nothing, since the store may be out for a while; calls then wait for it.

        Raises:
            StoreUnreachable: It does not answer within some seconds.
            RootUnusable: The root is a file, or it is not there and cannot be made.
            MissingDependency: The package that speaks to the store is not installed.
            UnknownStorageOption: The store has no such option.
        """
        if self._connection is not None and self._connection[0] == os.getpid():
            return
        files = connect(self._folder, self._options)
        if not patiently and os.environ.get(REACHED_VARIABLE) != self.root:
            make_contact(files, self.root, self._folder.path)
        self._connection = os.getpid(), files

    @property
    def capabilities(self) -> Capabilities:
        """What the store can do beyond what all stores can; raises as `reach`."""
        return self._files().capabilities

    @property
    def is_near(self) -> bool:
        """Whether this machine answers for the store by itself, so that no call takes long; asks nothing of the store."""
        return kind_of(self._folder).is_near

    def __reduce__(self) -> tuple[object, ...]:
        return Project, (self.root, self.name, self._options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Project):
            return NotImplemented
        return (self.root, self.name, self._options) == (other.root, other.name, other._options)

    def __hash__(self) -> int:
        return hash((self.root, self.name))

    def __repr__(self) -> str:
        # Without the storage options: they hold secrets.
        return f"Project({self.root!r}, {self.name!r})"

    def to_env(self) -> dict[str, str]:
        """Returns environment variables that make this project the default of another process."""
        return variables(self.root, self.name, self._options)

    # --- paths ---

    @property
    def path(self) -> str:
        """The project's folder with a trailing slash: a plain local path, or a URL."""
        return f"{self._folder}/"

    def url(self, relative: AnyPath = "") -> str:
        """Returns where something in the project is: a plain local path, or a URL.

        Raises:
            InvalidName: The path leaves the project or cannot be held by every store.
        """
        within = self._within(relative)
        return self.path + within if check_folder(within) else self.path

    def local_path(self, relative: AnyPath = "") -> Path | None:
        """Returns the path of something in the project on this machine's file system; None for other stores."""
        return Path(self.url(relative)) if self._folder.protocol == LOCAL else None

    def relative(self, url: AnyPath) -> str:
        """Returns the path in the project of something given as URL, as path from the root, or as relative path.

        Raises:
            InvalidName: It is not in this project.
        """
        return check_folder(self._within(url))

    def _within(self, path: AnyPath) -> str:
        text = as_text(path)
        if is_full(text):
            return relative_to(self._folder, text)
        return "" if isinstance(path, PurePath) and text == "." else text  # what pathlib makes of nothing

    # --- single files ---

    def put(self, relative: AnyPath, data: bytes) -> None:
        """Writes a file, or replaces it: a reader sees the old or the new content, whole.

        Raises:
            InvalidName: The name cannot be used.
            IsAFolder: There is a folder of that name.
            BadArguments: The content is not bytes.
        """
        _check_bytes("Project.put", data)
        self._files().write(self._inside(relative), [data], replace=True)

    def create(self, relative: AnyPath, data: bytes) -> None:
        """Writes a file that must not exist: of several at once, exactly one succeeds.

        Raises:
            InvalidName: The name cannot be used.
            AlreadyExists: The path is taken.
            BadArguments: The content is not bytes.
        """
        _check_bytes("Project.create", data)
        self._files().write(self._inside(relative), [data], replace=False)

    def read(self, relative: AnyPath) -> bytes:
        """Returns the content of a file.

        Raises:
            PathNotFound: There is none.
            IsAFolder: It is a folder.
        """
        return b"".join(self.read_chunks(relative))

    def read_chunks(self, relative: AnyPath) -> Iterator[bytes]:
        """Yields the content of a file in pieces, so that it may be larger than memory; as `read`."""
        return self._files().read(self._inside(relative))

    # --- folders ---

    def list(self, relative: AnyPath = "") -> list[Entry]:
        """Returns the direct children of a folder, sorted by name.

        Raises:
            PathNotFound: There is no such folder.
            NotAFolder: It is a file.
        """
        folder = self.relative(relative)
        return sorted(self._children(folder), key=lambda entry: entry.name)

    def walk(self, relative: AnyPath = "") -> Iterator[Entry]:
        """Yields all files below a folder; as `list`."""
        for entry in self.list(relative):
            if entry.is_dir:
                yield from self._walk_if_there(entry.path)
            else:
                yield entry

    def mkdir(self, relative: AnyPath) -> None:
        """Makes a folder and those above it; it may exist already.

        Raises:
            NotAFolder: A file is in the way.
        """
        self._files().mkdir(self._path(self.relative(relative)))

    # --- files and folders ---

    def exists(self, relative: AnyPath = "") -> bool:
        """Whether there is a file or a folder."""
        return self._look(relative) is not None

    def is_dir(self, relative: AnyPath = "") -> bool:
        """Whether there is a folder."""
        entry = self._look(relative)
        return entry is not None and entry.is_dir

    def info(self, relative: AnyPath = "") -> Entry:
        """Returns size, kind and time of a file or folder.

        Raises:
            PathNotFound: There is nothing.
        """
        path = self.relative(relative)
        return replace(self._files().info(self._path(path)), path=path)

    def remove(self, relative: AnyPath, recursive: bool = False) -> None:  # noqa: FBT001, FBT002  as in os and fsspec
        """Removes a file, an empty folder, or with `recursive` a folder and all that is in it.

        Raises:
            PathNotFound: There is nothing.
            FolderNotEmpty: The folder holds something and `recursive` is off.
        """
        self._files().remove(self._path(check_file(self.relative(relative))), recursive=recursive)

    def move(self, source: AnyPath, target: AnyPath, overwrite: bool = False) -> None:  # noqa: FBT001, FBT002  as above
        """Gives a file or folder another path in the project.

        Args:
            source: What to move.
            target: Its new path, not the folder to put it in.
            overwrite: Let a file take the place of a file. A folder is never replaced.

        Raises:
            PathNotFound: There is no source.
            AlreadyExists: The target is taken.
            InvalidName: The target is inside the source, or not a valid name.
        """
        start, end = check_file(self.relative(source)), check_file(self.relative(target))
        if end.startswith(f"{start}/"):
            raise InvalidName(end, f"{start} cannot be moved into itself")
        if start == end:
            entry = self.info(start)
            if entry.is_dir or not overwrite:
                raise AlreadyExists(self.url(end))
            return
        self._files().move(self._path(start), self._path(end), replace=overwrite)

    # --- between the project and this machine ---

    def copy_in(
        self,
        local: AnyPath,
        relative: AnyPath,
        *,
        overwrite: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> str:
        """Copies a local file or folder into the project; returns its URL there.

        Args:
            local: File, or folder with all that is below it. Symbolic links are followed.
            relative: Path of the copy, not the folder to put it in.
            overwrite: Replace files that exist. Files that only the target has stay.
            progress: Called with the bytes copied so far and the bytes in all.

        Raises:
            PathNotFound: There is no such local file.
            AlreadyExists: The target is taken and `overwrite` is off.
        """
        target = self._path(check_file(self.relative(relative)))
        transfer.copy_in(self._files(), Path(local), target, overwrite=overwrite, progress=progress)
        return self.url(relative)

    def copy_out(
        self,
        relative: AnyPath,
        local: AnyPath,
        *,
        overwrite: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Copies a file or folder of the project to this machine; returns where it is now.

        Args:
            relative: File or folder in the project.
            local: Path of the copy, not the folder to put it in.
            overwrite: Replace files that exist. Files that only the target has stay.
            progress: Called with the bytes copied so far and the bytes in all.

        Raises:
            PathNotFound: There is no such file in the project.
            AlreadyExists: The target is taken and `overwrite` is off.
        """
        source = self._path(self.relative(relative))
        return transfer.copy_out(self._files(), source, Path(local), overwrite=overwrite, progress=progress)

    # --- inside ---

    def write_chunks(self, relative: AnyPath, chunks: Iterator[bytes], *, overwrite: bool) -> None:
        """Writes a file from pieces, so that it may be larger than memory; as `put` or `create`."""
        self._files().write(self._inside(relative), chunks, replace=overwrite)

    def _files(self) -> FileSystem:
        """The connection of this process: sockets and threads do not survive a fork."""
        self.reach()
        assert self._connection is not None
        return self._connection[1]

    def _inside(self, relative: AnyPath) -> str:
        return self._path(check_file(self._within(relative)))

    def _path(self, checked: str) -> str:
        return f"{self._folder.path}/{checked}" if checked else self._folder.path

    def _look(self, relative: AnyPath) -> Entry | None:
        try:
            return self.info(relative)
        except PathNotFound:
            return None

    def _children(self, folder: str) -> Iterator[Entry]:
        for entry in self._files().list(self._path(folder)):
            if not is_temporary(entry.name):
                yield replace(entry, path=f"{folder}/{entry.name}" if folder else entry.name)

    def _walk_if_there(self, folder: str) -> Iterator[Entry]:
        try:
            yield from self.walk(folder)
        except PathNotFound:
            # Removed since its parent was listed: then there are no files in it.
            return


def _check_bytes(call: str, data: object) -> None:
    if isinstance(data, str):
        raise BadArguments(call, f"data={data!r:.40} is text; give bytes, such as data.encode()")
    try:
        memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        raise BadArguments(call, f"data={data!r:.40} is not valid; give bytes") from None
