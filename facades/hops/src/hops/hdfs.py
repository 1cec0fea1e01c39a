"""The project and its files; ``from hops import hdfs``.

The name is that of the old library. The project may be in any store that Hopyard knows.
"""

from __future__ import annotations

import getpass
import os
import re
import sys
from datetime import datetime

from hops.copies import copy_from_project, copy_to_project
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
from hops.paths import place, project_of

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
    "get_plain_path",
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


_NAME_NODE = re.compile(r"^((?:hdfs|webhdfs|hopsfs)://)[^/]*/")


def project_path(
    project: str | None = None, exclude_nn_addr: bool = False, *, project_name: str | None = None
) -> str:
    """Returns the folder of the project, or of another one, with a trailing slash.

    Args:
        project: Name of the other project.
        exclude_nn_addr: Whether the address of the HDFS NameNode is left out: ``hdfs:///Projects/<name>/``.
        project_name: Another name of `project`.
    """
    path = project_of(project or project_name).path
    return _NAME_NODE.sub(r"\1/", path) if exclude_nn_addr else path


def get_plain_path(abs_path: str) -> str:
    """Returns a path without protocol and host: ``/Projects/<name>/…`` for ``hdfs://host:8020/Projects/<name>/…``."""
    full = abs_path if "://" in abs_path or abs_path.startswith("/") else place(abs_path).url
    protocol, _, rest = full.rpartition("://")
    return f"/{rest.partition('/')[2]}" if protocol else full


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


copy_to_hdfs = copy_to_project
copy_to_local = copy_from_project
