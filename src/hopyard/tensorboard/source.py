"""Which folder a TensorBoard shows."""

from __future__ import annotations

from pathlib import Path

from hopyard.errors import InvalidName, NotAFolder, PathNotFound
from hopyard.store import Project
from hopyard.store.location import LOCAL, Location
from hopyard.store.place import Place, locate


def find_folder(logdir: str, project: Project | None = None) -> Place | Path:
    """Returns a folder of a project, or a local one that is in no project.

    Raises:
        PathNotFound: There is no such folder.
        NotAFolder: It is a file.
        InvalidName: It is on a remote store and in no project.
    """
    place = locate(logdir, project)
    if place is not None:
        if not place.project.info(place.relative).is_dir:
            raise NotAFolder(place.url)
        return place
    location = Location.parse(logdir)
    if location.protocol != LOCAL:
        raise InvalidName(logdir, "a folder on a remote store is shown if it is in <root>/Projects/<name>/")
    return _existing(Path(location.path or "/"))


def _existing(folder: Path) -> Path:
    if not folder.exists():
        raise PathNotFound(str(folder))
    if not folder.is_dir():
        raise NotAFolder(str(folder))
    return folder
