"""What `hdfs.get()` and `hdfs.get_fs()` return: the file functions as methods of one object."""

from __future__ import annotations

import io
from typing import Self

from hops import files
from hops.stored_file import StoredFile


class Handle:
    """A handle to the project's store, with the methods that programs call on one of pydoop's.

    It holds no connection. Paths are understood as in `hops.hdfs`.
    """

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        return files.exists(path)

    def list_directory(self, path: str) -> list[dict[str, object]]:
        """Returns what is in a folder, each with its name, kind, size and time."""
        return files.lsl(path)

    def get_path_info(self, path: str) -> dict[str, object]:
        """Returns name, kind, size and time of a file or folder."""
        found = files.stat(path)
        size, changed = found.st_size, int(found.st_mtime)
        return {"name": found.name, "path": found.name, "kind": found.kind, "size": size, "last_mod": changed}

    def create_directory(self, path: str) -> bool:
        """Makes a folder and those above it."""
        files.mkdir(path)
        return True

    def delete(self, path: str, recursive: bool = True) -> bool:
        """Removes a file or folder; False if there was none."""
        if not files.exists(path):
            return False
        files.delete(path, recursive)
        return True

    def rename(self, from_path: str, to_path: str) -> bool:
        """Gives a file or folder another path."""
        files.rename(from_path, to_path)
        return True

    def open_file(self, path: str, flags: str = "r", **_: object) -> StoredFile | io.TextIOWrapper:
        """Returns an open file, as `hops.hdfs.open_file`; sizes of buffers and blocks have no effect."""
        return files.open_file(path, flags=flags)

    def capacity(self) -> int:
        """Returns the size of the store in bytes."""
        return files.capacity()

    def close(self) -> None:
        """Does nothing: there is no connection to close."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
