"""Which project a path belongs to, however it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hopyard.errors import InvalidName
from hopyard.store.full_paths import is_full
from hopyard.store.layout import PROJECTS
from hopyard.store.location import Location
from hopyard.store.project import Project

_IN_PROJECT = re.compile(rf"(?P<root>.*?)/{PROJECTS}/(?P<name>[^/]+)(/(?P<relative>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file or folder of a project; it need not exist."""

    project: Project
    relative: str

    @property
    def url(self) -> str:
        """Its full path: a plain local path, or a URL."""
        return self.project.url(self.relative)


def locate(path: str, project: Project | None = None) -> Place | None:
    """Returns which project a path is in, and where in it; None if it is in no project.

    Args:
        path: A path relative to the project, ``/Projects/<name>/…``, or a full local path or URL, each of
            this project or of another.
        project: The project that is meant where the path does not say; `Project.open` if not given.

    Raises:
        InvalidName: A relative path that no project can hold.
    """
    home = project or Project.open()
    try:
        return Place(project=home, relative=home.relative(path))
    except InvalidName:
        if not is_full(path):
            raise
        return _in_another(Location.parse(path), home)


def _in_another(location: Location, home: Project) -> Place | None:
    match = _IN_PROJECT.fullmatch(location.path)
    if match is None:
        return None
    # Without host and root, the path means the projects beside this one: the same store.
    beside = not location.authority and not match["root"]
    root = home.root if beside else f"{location.base}{match['root']}"
    other = Project.open(root, match["name"])
    return Place(project=other, relative=other.relative(match["relative"] or ""))
