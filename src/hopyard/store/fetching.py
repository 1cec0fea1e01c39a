"""Files of a project on this machine's disk, for libraries that read nothing else."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from hopyard.store.filesystem import Entry
from hopyard.store.names import AnyPath
from hopyard.store.project import Project


def fetch(project: Project, path: AnyPath, folder: Path) -> Path:
    """Returns a local path with the content of a file or folder of the project.

    Where the project is on this machine's file system, it is the path itself. On other stores a copy is made, once for
    each version of it: a second call finds the copy of the first.

    Args:
        project: Where it is.
        path: The file or folder, relative to the project or in full.
        folder: Where copies are kept.

    Raises:
        PathNotFound: There is nothing.
        OutsideProject: It is a full path, and not in the project.
    """
    found = project.info(path)
    local = project.local_path(path)
    if local is not None:
        return local
    name = found.path.rpartition("/")[2] or project.name
    target = folder / _version(project, found) / name
    if not target.exists():
        _copy(project, found.path, target)
    return target


def _version(project: Project, found: Entry) -> str:
    """Returns a name for the content as it is now."""
    digest = hashlib.sha256(found.path.encode())
    for entry in _files(project, found):
        digest.update(f"\n{entry.path} {entry.size} {entry.modified}".encode())
    return digest.hexdigest()[:32]


def _files(project: Project, found: Entry) -> Iterator[Entry]:
    if found.is_dir:
        yield from project.walk(found.path)
    else:
        yield found


def _copy(project: Project, path: str, target: Path) -> None:
    """Copies to another name first: two threads may want the same, and a copy that fails must not be taken for whole."""
    unfinished = target.parent / f".{uuid4().hex}"
    target.parent.mkdir(parents=True, exist_ok=True)
    project.copy_out(path, unfinished)
    try:
        os.rename(unfinished, target)
    except OSError:
        if not target.exists():
            raise
        shutil.rmtree(unfinished, ignore_errors=True)  # another thread was first with the same folder
