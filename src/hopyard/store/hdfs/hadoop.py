"""What HDFS does the same way over its own protocol and over HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from hopyard.errors import AlreadyExists, FolderNotEmpty, IsAFolder, NotAFolder, PathNotFound, StoreFailed
from hopyard.store.filesystem import Capabilities, Entry, parent_of, temporary_beside

_ERRORS: dict[str, type[PathNotFound | AlreadyExists | NotAFolder | FolderNotEmpty]] = {
    "FileNotFoundException": PathNotFound,
    "FileAlreadyExistsException": AlreadyExists,
    "ParentNotDirectoryException": NotAFolder,
    "PathIsNotEmptyDirectoryException": FolderNotEmpty,
}


class HadoopStore(ABC):
    """A `FileSystem` on the NameNode's rename, which is atomic and may refuse to replace.

    A subclass gives the single calls; each raises the errors of `hadoop_error`.
    """

    capabilities = Capabilities()

    @abstractmethod
    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""

    @abstractmethod
    def _stream(self, path: str) -> Iterator[bytes]:
        """Yields the content of a file."""

    @abstractmethod
    def _children(self, path: str) -> Sequence[Entry]:
        """Lists a folder; for a file, the file itself."""

    @abstractmethod
    def _create(self, path: str, chunks: Iterable[bytes]) -> None:
        """Writes a new file and makes the folders above it."""

    @abstractmethod
    def _make(self, path: str) -> None:
        """Makes a folder and those above it."""

    @abstractmethod
    def _rename(self, source: str, target: str, *, replace: bool) -> None:
        """Renames, and replaces the target or not."""

    @abstractmethod
    def _delete(self, path: str, *, recursive: bool) -> bool:
        """Deletes; whether there was something."""

    @abstractmethod
    def _url(self, path: str) -> str:
        """Returns the full URL, for errors."""

    def probe(self, path: str) -> None:
        """See `FileSystem.probe`."""
        try:
            is_dir = self.info(path).is_dir
        except PathNotFound:
            return
        if not is_dir:
            raise NotAFolder(self._url(path))

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        temporary = temporary_beside(path)
        try:
            self._create(temporary, chunks)
            self._rename_file(temporary, path, replace=replace)
        except NotAFolder as error:
            raise NotAFolder(self._url(path)) from error
        except BaseException as error:
            self._discard(temporary, error)
            if replace and isinstance(error, AlreadyExists):
                raise IsAFolder(self._url(path)) from error
            raise

    def read(self, path: str) -> Iterator[bytes]:
        """See `FileSystem.read`."""
        try:
            yield from self._stream(path)
        except (PathNotFound, NotAFolder) as error:
            # The first is also the answer for folders.
            raise (IsAFolder if self._is_folder(path) else PathNotFound)(self._url(path)) from error

    def list(self, path: str) -> Iterable[Entry]:
        """See `FileSystem.list`."""
        try:
            entries = self._children(path)
        except NotAFolder as error:
            raise PathNotFound(self._url(path)) from error
        if len(entries) == 1 and entries[0].path == path:
            raise NotAFolder(self._url(path))
        return entries

    def mkdir(self, path: str) -> None:
        """See `FileSystem.mkdir`."""
        try:
            self._make(path)
        except AlreadyExists as error:
            raise NotAFolder(self._url(path)) from error

    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""
        try:
            found = self._delete(path, recursive=recursive)
        except NotAFolder as error:
            raise PathNotFound(self._url(path)) from error
        if not found:
            raise PathNotFound(self._url(path))

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`."""
        rename = self._rename_folder if self.info(source).is_dir else self._rename_file
        try:
            rename(source, target, replace=replace)
        except PathNotFound:
            # Its parent is made when it is missing, not asked for at each move.
            self.mkdir(parent_of(target))
            rename(source, target, replace=replace)

    def _rename_file(self, source: str, target: str, *, replace: bool) -> None:
        try:
            self._rename(source, target, replace=replace)
        except StoreFailed as error:
            if self._is_folder(target):
                raise AlreadyExists(self._url(target)) from error
            raise

    def _rename_folder(self, source: str, target: str, *, replace: bool) -> None:
        del replace  # The NameNode would let a folder take the place of an empty one.
        try:
            self._rename(source, target, replace=False)
        except StoreFailed as error:
            if self._is_there(target):
                raise AlreadyExists(self._url(target)) from error
            raise

    def _is_folder(self, path: str) -> bool:
        try:
            return self.info(path).is_dir
        except PathNotFound:
            return False

    def _is_there(self, path: str) -> bool:
        try:
            self.info(path)
        except PathNotFound:
            return False
        return True

    def _discard(self, temporary: str, cause: BaseException) -> None:
        try:
            self._delete(temporary, recursive=False)
        except OSError as error:
            cause.add_note(f"{self._url(temporary)} was left behind: {error}")


def hadoop_error(java_class: str, path: str, message: str) -> OSError:
    """Returns our error for the Java exception that the NameNode answered with."""
    ours = _ERRORS.get(java_class.rpartition(".")[2])
    if ours is not None:
        return ours(path)
    first_line = message.partition("\n")[0]
    if java_class.endswith("AccessControlException"):
        # Its word also for a path that goes on below a file.
        if first_line.endswith("(is not a directory)"):
            return NotAFolder(path)
        return PermissionError(f"{path}: {first_line}")
    return StoreFailed(path, f"{first_line} ({java_class})")
