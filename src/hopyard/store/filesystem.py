"""What a store has to do: the seam between a project and the place where its bytes live."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from hopyard.store.names import TEMPORARY_PREFIX

# Files travel in pieces of about this size, so that they may be larger than memory.
CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or folder as a listing shows it.

    Attributes:
        name: Last part of the path.
        path: Relative to the project; a `FileSystem` gives its own absolute path here.
        size: Bytes; 0 for folders.
        is_dir: Whether it is a folder.
        modified: When it was last written, in seconds since 1970; 0.0 where the store does not know.
    """

    name: str
    path: str
    size: int
    is_dir: bool
    modified: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server of a store.

    Attributes:
        host: Its name or address.
        port: Where it listens.
        role: What it is, in the words of an error: ``a NameNode``.
        proxied_as: ``http`` or ``https`` if the variables of that name may lead through a proxy.
    """

    host: str
    port: int
    role: str
    proxied_as: str = ""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a store can do beyond what all of them can; `hopyard.testing.store_contract` sees to it that it holds.

    Attributes:
        can_append: A program of this machine that opens a file by its path can write at its end, and readers see it grow.
        can_lock: ``flock`` on a file keeps all other processes out, and a dead one holds up nobody.
    """

    can_append: bool = False
    can_lock: bool = False


class FileSystem(Protocol):
    """A place for files. Every path is absolute, checked, and has no trailing slash.

    All methods may be called from several threads at once, and another process sees each result as
    soon as the call has returned. Besides the errors named below, a failing store raises `StoreFailed`
    or another OSError.
    """

    @property
    def capabilities(self) -> Capabilities:
        """What else it can do."""

    def servers(self) -> Sequence[Server]:
        """Returns who answers the calls; nobody where no call can hang."""

    def probe(self, path: str) -> None:
        """Asks once, as cheaply as can be, whether a folder is there or could be made.

        Raises:
            NotAFolder: The path or a part of it is a file.
            OSError: The store does not answer, or does not let us in.
        """

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """Writes a whole file, or nothing at all; makes the folders above it.

        Readers see what was there before until everything is written. Without `replace` exactly one of
        several concurrent writers succeeds.

        Raises:
            AlreadyExists: The path is taken and `replace` is off.
            IsAFolder: The path is a folder.
            NotAFolder: A part of the path above is a file.
        """

    def read(self, path: str) -> Iterator[bytes]:
        """Yields the content of one version of a file, in order.

        Raises:
            PathNotFound: There is nothing.
            IsAFolder: The path is a folder.
        """

    def info(self, path: str) -> Entry:
        """Returns what a listing of the folder above would say of this path.

        Raises:
            PathNotFound: There is nothing.
        """

    def list(self, path: str) -> Iterable[Entry]:
        """Returns the direct children of a folder, in any order, temporaries included.

        Raises:
            PathNotFound: There is nothing.
            NotAFolder: The path is a file.
        """

    def mkdir(self, path: str) -> None:
        """Makes a folder and those above it; nothing happens if it is there already.

        Raises:
            NotAFolder: The path or a part of it is a file.
        """

    def remove(self, path: str, *, recursive: bool) -> None:
        """Removes a file or a folder.

        Raises:
            PathNotFound: There is nothing.
            FolderNotEmpty: A folder holds something and `recursive` is off.
        """

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """Gives a file or folder another path; `replace` lets a file take the place of a file.

        Raises:
            PathNotFound: There is no source.
            AlreadyExists: The target is taken, and it is not a file that may be replaced by a file.
        """


def temporary_beside(path: str) -> str:
    """Returns a free, hidden path in the folder of `path`, from where a move to `path` is cheap."""
    return f"{parent_of(path)}/{TEMPORARY_PREFIX}{secrets.token_hex(8)}"


def is_temporary(name: str) -> bool:
    """Whether a name is that of a file still being written, or left by a writer that was killed."""
    return name.startswith(TEMPORARY_PREFIX)


def parent_of(path: str) -> str:
    """Returns the folder above an absolute path; the folder above ``/a`` is the empty string."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """Returns the last part of a path."""
    return path.rpartition("/")[2]
