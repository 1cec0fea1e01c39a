"""Copies between a local disk and the project, as `hops.hdfs` offers them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hops.paths import inside, place
from hopyard.errors import AlreadyExists
from hopyard.store.place import Place


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

    What an earlier call has copied is returned as it is if all files have their size and are younger than those of
    the project, and copied again otherwise.

    Raises:
        AlreadyExists: The local folder has another folder of that name, with files that the project does not have.
    """
    source = place(relative_hdfs_path, project)
    folder = Path(local_path).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (source.relative.rpartition("/")[2] or source.project.name)
    if not overwrite and target.exists():
        wanted, there = _files_in_project(source), _files(target)
        if wanted.keys() == there.keys() and all(there[path].is_copy_of(wanted[path]) for path in wanted):
            return str(target)
        if not there.keys() <= wanted.keys():
            raise AlreadyExists(str(target))
    return str(source.project.copy_out(source.relative, target, overwrite=True))


@dataclass(frozen=True, slots=True)
class _File:
    """Size and time of change of a file."""

    size: int
    modified: float

    def is_copy_of(self, other: _File) -> bool:
        """Tells whether this one was written after the other, as its copy would be."""
        return self.size == other.size and self.modified > other.modified


def _files_in_project(source: Place) -> dict[str, _File]:
    """Returns each file by its path in the folder; a file alone has none."""
    project, entry = source.project, source.project.info(source.relative)
    if not entry.is_dir:
        return {"": _File(entry.size, entry.modified)}
    prefix = f"{source.relative}/" if source.relative else ""
    return {
        each.path.removeprefix(prefix): _File(each.size, each.modified)
        for each in project.walk(source.relative)
        if not each.is_dir
    }


def _files(target: Path) -> dict[str, _File]:
    if not target.is_dir():
        return {"": _local(target)}
    return {
        path.relative_to(target).as_posix(): _local(path) for path in target.rglob("*") if not path.is_dir()
    }


def _local(path: Path) -> _File:
    found = path.lstat()
    return _File(found.st_size, found.st_mtime)
