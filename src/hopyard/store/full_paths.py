"""Full paths and URLs of what is in a project, as paths relative to it."""

from __future__ import annotations

import os

from hopyard.errors import OutsideProject
from hopyard.store.layout import PROJECTS
from hopyard.store.location import LOCAL, Location


def is_full(path: str) -> bool:
    """Tells whether a path says by itself where it is: a URL, or a path from the root of a file system."""
    return path.startswith("/") or "://" in path


def relative_to(folder: Location, path: str) -> str:
    """Returns where in the folder of a project a full path leads; a trailing slash stays.

    ``hdfs:///Projects/<name>/…``, without a host, is understood on every store: a project that moved keeps its old
    paths.

    Raises:
        OutsideProject: It leads elsewhere.
        InvalidName: It is no URL that we understand.
    """
    location = Location.parse(path)
    for spelling in _spellings(folder, location):
        if location.path == spelling:
            return ""
        if location.path.startswith(f"{spelling}/"):
            return location.path.removeprefix(f"{spelling}/") + ("/" if path.endswith("/") else "")
    raise OutsideProject(path, f"{folder}/")


def _spellings(folder: Location, location: Location) -> list[str]:
    """Returns the paths of the folder that count for a location."""
    found = []
    if (location.protocol, location.authority) == (folder.protocol, folder.authority):
        found.append(folder.path)
    if not location.authority:
        found.append(f"/{PROJECTS}/{folder.path.rpartition('/')[2]}")
    if location.protocol == folder.protocol == LOCAL:
        found.append(os.path.realpath(folder.path))  # for a program that has resolved the links in it
    return found
