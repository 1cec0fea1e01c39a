"""Paths as the Hops library understood them."""

from __future__ import annotations

from hopyard.errors import InvalidName
from hopyard.store import Project
from hopyard.store.place import Place, locate


def project_of(project: str | None = None) -> Project:
    """Returns the project of that name beside the current one, or the current one."""
    return Project.open(name=project)


def place(path: str | bytes, project: str | None = None) -> Place:
    """Returns where in which project a path is.

    Args:
        path: Relative to the project, also with a leading slash (``/Resources``); ``/Projects/<name>/…``;
            or a full path, of which ``hopsfs://`` is another way to write ``hdfs://``.
        project: Name of the project that relative paths are in.

    Raises:
        InvalidName: It is in no project.
    """
    text = path.decode() if isinstance(path, bytes) else path
    if text.startswith("hopsfs://"):
        text = f"hdfs{text.removeprefix('hopsfs')}"
    home = project_of(project)
    found = locate(text, home)
    if found is None and "://" not in text:
        found = Place(project=home, relative=home.relative(text.strip("/")))
    if found is None:
        raise InvalidName(text, f"it is in no project; paths are relative to {home.path} or full")
    return found


def inside(target: Place, name: str) -> Place:
    """Returns the path of `name` in a folder that exists, else the target itself: where ``cp`` would put it."""
    if not target.project.is_dir(target.relative):
        return target
    relative = f"{target.relative}/{name}" if target.relative else name
    return Place(project=target.project, relative=relative)
