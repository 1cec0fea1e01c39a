"""The project and its files; ``from hops import hdfs``.

The name is that of the old library. The project may be in any store that Hopyard knows.
"""

from __future__ import annotations

import getpass
import os
import sys
from datetime import datetime
from pathlib import Path

from hops.files import (
    abs_path,
    access,
    capacity,
    chmod,
    chown,
    close,
    cp,
    delete,
    dump,
    exists,
    glob,
    isdir,
    isfile,
    load,
    ls,
    lsl,
    mkdir,
    move,
    open_file,
    rename,
    rmr,
    stat,
)
from hops.handle import Handle
from hops.paths import inside, place, project_of

__all__ = [
    "abs_path",
    "access",
    "capacity",
    "chmod",
    "chown",
    "close",
    "copy_from_project",
    "copy_to_hdfs",
    "copy_to_local",
    "copy_to_project",
    "cp",
    "delete",
    "dump",
    "exists",
    "get",
    "get_fs",
    "glob",
    "init_logger",
    "isdir",
    "isfile",
    "kill_logger",
    "load",
    "log",
    "ls",
    "lsl",
    "mkdir",
    "move",
    "open_file",
    "project_name",
    "project_path",
    "project_user",
    "rename",
    "rmr",
    "stat",
]


def project_path(project: str | None = None, project_name: str | None = None) -> str:
    """Returns the folder of the project, or of another one, with a trailing slash."""
    return project_of(project or project_name).path


def project_name() -> str:
    """Returns the name of the project."""
    return project_of().name


def project_user() -> str:
    """Returns the user of the project: ``HADOOP_USER_NAME`` where it is set, else ``<project>__<user>``."""
    return os.environ.get("HADOOP_USER_NAME") or f"{project_name()}__{getpass.getuser()}"


def log(string: str) -> None:
    """Writes a line with the time; inside a training function it goes to the log of the run.

    Something that is not a string is not written; an ERROR line says so.
    """
    text = string if isinstance(string, str) else f"ERROR: hdfs.log() takes a string, not {string!r}"
    # The standard output of a node is its log.
    sys.stdout.write(f"{datetime.now().astimezone().isoformat()}: {text}\n")
    sys.stdout.flush()


def init_logger() -> None:
    """Does nothing: the log of a run needs no start."""


def kill_logger() -> None:
    """Does nothing: the log of a run needs no end."""


def get() -> Handle:
    """Returns a handle to the project's store."""
    return Handle()


def get_fs() -> Handle:
    """Returns a handle to the project's store."""
    return Handle()


def copy_to_project(
    local_path: str, relative_hdfs_path: str, overwrite: bool = False, project: str | None = None
) -> None:
    """Copies a local file or folder into a folder of the project, under its own name.

    Raises:
        AlreadyExists: The folder has something of that name, and `overwrite` is off.
    """
    source = Path(local_path).absolute()
    folder = place(relative_hdfs_path, project)
    folder.project.mkdir(folder.relative)
    target = inside(folder, source.name)
    if overwrite and target.project.exists(target.relative):
        target.project.remove(target.relative, recursive=True)
    target.project.copy_in(source, target.relative)


def copy_from_project(
    relative_hdfs_path: str, local_path: str = "", overwrite: bool = False, project: str | None = None
) -> str:
    """Copies a file or folder of the project into a local folder, under its own name; returns its path there.

    Raises:
        AlreadyExists: The folder has something of that name, and `overwrite` is off.
    """
    source = place(relative_hdfs_path, project)
    folder = Path(local_path).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (source.relative.rpartition("/")[2] or source.project.name)
    return str(source.project.copy_out(source.relative, target, overwrite=overwrite))


copy_to_hdfs = copy_to_project
copy_to_local = copy_from_project
