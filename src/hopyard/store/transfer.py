"""Copies between a store and this machine, in pieces, each file atomically."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hopyard.errors import AlreadyExists, FilesNotStored, PathNotFound
from hopyard.store.filesystem import Entry, FileSystem, is_temporary
from hopyard.store.local.disk import LocalFileSystem
from hopyard.store.local.tree import LocalFile, Refused, local_files
from hopyard.store.names import check_file

Progress = Callable[[int, int], None]


class _Meter:
    """Counts the bytes that pass and tells whoever wants to know."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def watch(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            yield chunk
            self._done += len(chunk)
            if self._progress is not None:
                self._progress(self._done, self._total)


def copy_in(
    files: FileSystem, local: Path, target: str, *, overwrite: bool, progress: Progress | None
) -> None:
    """Copies a local file or folder to `target`; see `Project.copy_in`."""
    disk = LocalFileSystem()
    source = str(local.resolve())
    entry = disk.info(source)
    if not entry.is_dir:
        meter = _Meter(progress, entry.size)
        files.write(target, meter.watch(disk.read(source)), replace=overwrite)
        return
    found = _all_files(local)
    _claim(files, target, overwrite=overwrite)
    meter = _Meter(progress, sum(file.path.stat().st_size for file in found))
    for file in found:
        chunks = meter.watch(disk.read(str(file.path)))
        files.write(f"{target}/{file.relative}", chunks, replace=overwrite)


def copy_out(
    files: FileSystem, source: str, local: Path, *, overwrite: bool, progress: Progress | None
) -> Path:
    """Copies the file or folder `source` to this machine; see `Project.copy_out`."""
    disk = LocalFileSystem()
    target = str(local.absolute())
    entry = files.info(source)
    if not entry.is_dir:
        meter = _Meter(progress, entry.size)
        disk.write(target, meter.watch(files.read(source)), replace=overwrite)
        return local
    found = list(_below(files, source))
    _claim(disk, target, overwrite=overwrite)
    meter = _Meter(progress, sum(file.size for file in found))
    for file in found:
        chunks = meter.watch(files.read(file.path))
        disk.write(target + file.path.removeprefix(source), chunks, replace=overwrite)
    return local


def _all_files(local: Path) -> list[LocalFile]:
    """Lists the files of a folder, with all names checked, before the first one is copied."""
    found = list(local_files(local, confined=False))
    refused = [item for item in found if isinstance(item, Refused)]
    if refused:
        raise FilesNotStored(str(local), tuple((item.relative, item.reason) for item in refused))
    files = [item for item in found if isinstance(item, LocalFile)]
    for file in files:
        check_file(file.relative)
    return files


def _claim(files: FileSystem, folder: str, *, overwrite: bool) -> None:
    if not overwrite:
        try:
            files.info(folder)
        except PathNotFound:
            files.mkdir(folder)
            return
        raise AlreadyExists(folder)
    files.mkdir(folder)


def _below(files: FileSystem, folder: str) -> Iterator[Entry]:
    for entry in sorted(files.list(folder), key=lambda entry: entry.name):
        if entry.is_dir:
            yield from _below(files, entry.path)
        elif not is_temporary(entry.name):
            yield entry
