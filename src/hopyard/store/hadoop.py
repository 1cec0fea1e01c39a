"""What HDFS does the same way over its own protocol and over HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from hopyard.errors import AlreadyExists, FolderNotEmpty, IsAFolder, NotAFolder, PathNotFound, StoreFailed
from hopyard.store.filesystem import Entry, parent_of, temporary_beside

_ERRORS: dict[str, type[PathNotFound | AlreadyExists | NotAFolder | FolderNotEmpty]] = {
    "FileNotFoundException": PathNotFound,
    "FileAlreadyExistsException": AlreadyExists,
    "ParentNotDirectoryException": NotAFolder,
    "PathIsNotEmptyDirectoryException": FolderNotEmpty,
}


class HadoopStore(ABC):
    """Atomic writes and moves on the rename of the NameNode, which is atomic and may refuse to replace."""

    @abstractmethod
    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""

    @abstractmethod
    def mkdir(self, path: str) -> None:
        """See `FileSystem.mkdir`."""

    @abstractmethod
    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""

    @abstractmethod
    def _create(self, path: str, chunks: Iterable[bytes]) -> None:
        """Writes a new file and makes the folders above it."""

    @abstractmethod
    def _rename(self, source: str, target: str, *, replace: bool) -> None:
        """Renames; raises AlreadyExists unless a file may take the place of a file, PathNotFound for a missing source or parent."""

    @abstractmethod
    def _url(self, path: str) -> str:
        """Returns the full URL, for errors."""

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        temporary = temporary_beside(path)
        try:
            self._create(temporary, chunks)
            self._rename(temporary, path, replace=replace)
        except AlreadyExists as error:
            self._discard(temporary, error)
            if replace:
                raise IsAFolder(self._url(path)) from error
            raise
        except BaseException as error:
            self._discard(temporary, error)
            raise

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`."""
        entry = self.info(source)
        # The NameNode would also let a folder take the place of an empty one.
        replace = replace and not entry.is_dir
        try:
            self._rename(source, target, replace=replace)
        except PathNotFound:
            # Its parent is made when it is missing, not asked for at each move.
            self.mkdir(parent_of(target))
            self._rename(source, target, replace=replace)

    def _discard(self, temporary: str, cause: BaseException) -> None:
        try:
            self.remove(temporary, recursive=False)
        except PathNotFound:
            return
        except OSError as error:
            cause.add_note(f"{self._url(temporary)} was left behind: {error}")


def hadoop_error(java_class: str, path: str, message: str) -> OSError:
    """Returns our error for the Java exception that the NameNode answered with."""
    ours = _ERRORS.get(java_class.rpartition(".")[2])
    if ours is not None:
        return ours(path)
    first_line = message.partition("\n")[0]
    if java_class.endswith("AccessControlException"):
        return PermissionError(f"{path}: {first_line}")
    return StoreFailed(path, f"{first_line} ({java_class})")
