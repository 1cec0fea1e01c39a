"""The file functions of the Hops library's `hdfs` module, on a project in any store.

Every path may be relative to the project, ``/Projects/<name>/…`` or full; ``project`` names the project
that relative paths are in. Paths come back in full. `hops.hdfs` is the module to import.
"""

from __future__ import annotations

import io
import os
import shutil
import stat as modes
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from hops.paths import inside, place, project_of
from hops.stored_file import StoredFile, open_stored
from hopyard.errors import AlreadyExists, NotOffered
from hopyard.scratch import scratch_folder
from hopyard.store import Entry
from hopyard.store.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class StatResult:
    """What is known of a file or folder, under the names of `os.stat_result`.

    Stores other than the local disk know kind, size and time; the rest is 0 there, and `st_mode` tells only the kind.
    """

    st_mode: int
    st_ino: int = 0
    st_dev: int = 0
    st_nlink: int = 1
    st_uid: int = 0
    st_gid: int = 0
    st_size: int
    st_atime: float
    st_mtime: float
    st_ctime: float
    st_blksize: int = 0
    st_blocks: int = 0
    kind: str  # "file" or "directory"
    name: str
    path: str
    replication: int = 1


_STAT_FIELDS = [field for field in fields(StatResult) if field.name.startswith("st_")]


def abs_path(hdfs_path: str) -> str:
    """Returns the full path."""
    return place(hdfs_path).url


def exists(hdfs_path: str, project: str | None = None) -> bool:
    """Whether there is a file or folder."""
    found = place(hdfs_path, project)
    return found.project.exists(found.relative)


def isdir(hdfs_path: str, project: str | None = None) -> bool:
    """Whether there is a folder."""
    found = place(hdfs_path, project)
    return found.project.is_dir(found.relative)


def isfile(hdfs_path: str, project: str | None = None) -> bool:
    """Whether there is a file."""
    return exists(hdfs_path, project) and not isdir(hdfs_path, project)


def stat(hdfs_path: str, project: str | None = None) -> StatResult:
    """Returns what `os.stat` does, as far as the store knows it."""
    found = place(hdfs_path, project)
    entry = found.project.info(found.relative)
    known: dict[str, Any] = {
        "st_mode": modes.S_IFDIR if entry.is_dir else modes.S_IFREG,
        "st_size": entry.size,
        **dict.fromkeys(("st_atime", "st_mtime", "st_ctime"), entry.modified),
    }
    local = found.project.local_path(found.relative)
    if local is not None:
        state = os.stat(local)
        known |= {field.name: getattr(state, field.name) for field in _STAT_FIELDS}
    return StatResult(**known, kind=_kind(entry), name=found.url, path=found.url)


def ls(
    hdfs_path: str, recursive: bool = False, project: str | None = None, exclude_nn_addr: bool = False
) -> list[str]:
    """Returns what is in a folder, with `recursive` also in those below; of a file, itself.

    `exclude_nn_addr` has no effect: paths with and without the address of a NameNode are understood everywhere.
    """
    found = place(hdfs_path, project)
    return [found.project.url(entry.path) for entry in _entries(found, recursive=recursive)]


def lsl(hdfs_path: str, recursive: bool = False, project: str | None = None) -> list[dict[str, object]]:
    """Returns what `ls` does, each with its name, kind, size and time."""
    found = place(hdfs_path, project)
    return [
        {
            "name": found.project.url(entry.path),
            "path": found.project.url(entry.path),
            "kind": _kind(entry),
            "size": entry.size,
            "last_mod": int(entry.modified),
        }
        for entry in _entries(found, recursive=recursive)
    ]


def glob(hdfs_path: str, recursive: bool = False, project: str | None = None) -> list[str]:
    """Returns what is in a folder and whose name matches the last part of the path, such as ``Resources/*.csv``."""
    folder, _, pattern = hdfs_path.rpartition("/")
    return [path for path in ls(folder, recursive, project) if fnmatchcase(path.rpartition("/")[2], pattern)]


def mkdir(hdfs_path: str, project: str | None = None) -> None:
    """Makes a folder and those above it."""
    found = place(hdfs_path, project)
    found.project.mkdir(found.relative)


def delete(hdfs_path: str, recursive: bool = False, project: str | None = None) -> None:
    """Removes a file, an empty folder, or with `recursive` any folder."""
    found = place(hdfs_path, project)
    found.project.remove(found.relative, recursive=recursive)


def rmr(hdfs_path: str, project: str | None = None) -> None:
    """Removes a file, or a folder with all that is in it."""
    delete(hdfs_path, recursive=True, project=project)


def move(src: str, dest: str) -> None:
    """Gives a file or folder another path; an existing folder receives it under its old name."""
    source = place(src)
    target = inside(place(dest), source.relative.rpartition("/")[2])
    if source.project == target.project:
        source.project.move(source.relative, target.relative)
        return
    _copy(source, target)
    source.project.remove(source.relative, recursive=True)


def rename(src: str, dest: str) -> None:
    """Does what `move` does."""
    move(src, dest)


def cp(src_hdfs_path: str, dest_hdfs_path: str, overwrite: bool = False) -> None:
    """Copies a file or folder; an existing folder receives it, with `overwrite` it is removed first."""
    source, target = place(src_hdfs_path), place(dest_hdfs_path)
    source.project.info(source.relative)  # nothing is removed for a copy of nothing
    if overwrite and target.project.exists(target.relative):
        target.project.remove(target.relative, recursive=True)
    _copy(source, inside(target, source.relative.rpartition("/")[2]))


def dump(data: bytes | str, hdfs_path: str) -> None:
    """Writes a file, or replaces it."""
    found = place(hdfs_path)
    found.project.put(found.relative, data.encode() if isinstance(data, str) else data)


def load(hdfs_path: str) -> bytes:
    """Returns the content of a file."""
    found = place(hdfs_path)
    return found.project.read(found.relative)


def open_file(
    hdfs_path: str, project: str | None = None, flags: str = "rw", buff_size: int = 0
) -> StoredFile | io.TextIOWrapper:
    """Returns an open file; what is written to it is in the project once it is closed.

    Args:
        hdfs_path: The file.
        project: Project that a relative path is in.
        flags: ``r``, ``w``, ``a`` or ``rw``, for text with a trailing ``t``.
        buff_size: Without effect; it was a setting of the old client.
    """
    return open_stored(place(hdfs_path, project), flags)


def chmod(hdfs_path: str, mode: int, project: str | None = None) -> None:
    """Sets the permissions of a file or folder of a project on a local disk."""
    os.chmod(_local("hdfs.chmod", place(hdfs_path, project)), mode)


def chown(hdfs_path: str, user: str, group: str, project: str | None = None) -> None:
    """Sets the owner of a file or folder of a project on a local disk."""
    shutil.chown(_local("hdfs.chown", place(hdfs_path, project)), user or None, group or None)  # type: ignore[arg-type]


def access(hdfs_path: str, mode: int, project: str | None = None) -> bool:
    """Whether this process may use a file or folder of a project on a local disk, as `os.access`."""
    return os.access(_local("hdfs.access", place(hdfs_path, project)), mode)


def capacity() -> int:
    """Returns the size in bytes of the local disk that the project is on."""
    project = project_of()
    project.mkdir("")
    return shutil.disk_usage(_local("hdfs.capacity", Place(project=project, relative=""))).total


def close() -> None:
    """Does nothing: there is no connection that outlasts a call."""


def _entries(found: Place, *, recursive: bool) -> Iterator[Entry]:
    entry = found.project.info(found.relative)
    if not entry.is_dir:
        yield entry
        return
    for child in found.project.list(found.relative):
        yield child
        if recursive and child.is_dir:
            yield from _entries(Place(project=found.project, relative=child.path), recursive=True)


def _copy(source: Place, target: Place) -> None:
    if target.project.exists(target.relative):
        raise AlreadyExists(target.url)
    with scratch_folder("copy") as scratch:
        copy = source.project.copy_out(source.relative, scratch / "copy")
        target.project.copy_in(copy, target.relative)


def _local(function: str, found: Place) -> str:
    if "://" in found.url:
        protocol = found.url.partition("://")[0]
        raise NotOffered(f"{function}() on {protocol}://", "use the tools of that store, or a local project")
    return found.url


def _kind(entry: Entry) -> str:
    return "directory" if entry.is_dir else "file"
