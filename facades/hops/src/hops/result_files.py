"""The files that a result names: each as its path in the project, where it is when the run has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hops.paths import place
from hopyard.store import Project
from hopyard.store.place import Place

_IN_LOGDIR = "/logdir/"
LOG = "log"
LOGFILE = "logfile"


def with_files(values: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Returns what a function returned, with the paths of its files in the project, and its log under ``log``.

    On the node a file was in the log folder, which is copied to the folder of the run. The log is there also if the
    function printed nothing.

    Args:
        values: What the function returned.
        folder: The folder of its run.
    """
    run = place(folder)
    log = f"{run.relative}/{LOGFILE}"
    if not run.project.exists(log):
        run.project.put(log, b"")
    named = {key: _stored(value, run) for key, value in values.items()}
    return {**named, LOG: f"{folder}/{LOGFILE}"}


def _stored(value: Any, run: Place) -> Any:
    """Returns where in the project a file is, if the value names one that the run has kept."""
    name = _file_name(value)
    path = f"{run.relative}/{name}"
    return path if name and _is_file(run.project, path) else value


def _file_name(value: Any) -> str:
    """Returns the path in the log folder that a value may mean; empty if it is no path."""
    if not isinstance(value, str) or value.endswith("/") or "\n" in value:
        return ""
    return value.rpartition(_IN_LOGDIR)[2] if _IN_LOGDIR in value else value.rpartition("/")[2]


def _is_file(project: Project, path: str) -> bool:
    return project.exists(path) and not project.is_dir(path)
