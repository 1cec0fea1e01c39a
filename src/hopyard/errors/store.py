"""Errors of the store: names, paths, files, and the server that keeps them."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class InvalidName(HopyardError, ValueError):
    """A name or relative path that a project cannot hold."""

    value: str
    reason: str
    text = "{value!r} is not a valid name or path: {reason}."


class OutsideProject(InvalidName):
    """A full path or URL that is not in the project."""

    text = "{value!r} is not in the project {reason}. Give a path in the project, in full or relative to it."

    @property
    def project(self) -> str:
        """Folder of the project, which is all the reason there is."""
        return self.reason


class UnknownStorageOption(HopyardError, ValueError):
    """A storage option that the store of a project does not have."""

    root: str
    option: str
    near: str | None
    known: tuple[str, ...]

    def __str__(self) -> str:
        if not self.known:
            return f"{self.root} takes no storage options, but got {self.option!r}; leave it out."
        guess = f"; did you mean {self.near!r}?" if self.near else "."
        return f"{self.root} has no storage option {self.option!r}{guess} It has {', '.join(self.known)}."


class UnsupportedStore(HopyardError, ValueError):
    """The URL of a project root names a protocol that nobody here speaks."""

    url: str
    known: str
    text = "{url!r} cannot be a project root; give a local path, or a URL that starts with one of: {known}."


class NoConditionalCreate(UnsupportedStore):
    """The store of a project root cannot create a file only if it is not there, as far as anybody has seen."""

    text = (
        "{url!r} cannot be a project root: fsspec reads and writes there, but has no single request for it that creates "
        "a file only if it is not there, and without that two drivers overwrite each other's files. Give a local "
        "path, or a URL that starts with one of: {known}."
    )


class InvalidSetting(HopyardError, ValueError):
    """An environment variable or option has a value that cannot be used."""

    setting: str
    reason: str
    text = "{setting} cannot be used: {reason}."


class MissingDependency(HopyardError, ImportError):
    """A package that an optional part needs is not installed."""

    package: str
    needed_for: str
    extra: str
    text = "{needed_for} needs the package {package!r}: pip install 'hopyard[{extra}]'."


class PathNotFound(HopyardError, FileNotFoundError):
    """A path that a caller asked for is not in the store."""

    path: str
    text = "{path} does not exist; check the path."


class AlreadyExists(HopyardError, FileExistsError):
    """A write-once path is taken."""

    path: str
    text = "{path} already exists; choose another name, or pass overwrite=True."


class IsAFolder(HopyardError, IsADirectoryError):
    """A file was asked for, and the path is a folder."""

    path: str
    text = "{path} is a folder; give the path of a file."


class NotAFolder(HopyardError, NotADirectoryError):
    """A folder was asked for, and the path, or a part of it, is a file."""

    path: str
    text = "{path} must be a folder, but it, or a folder above it, is a file."


class FolderNotEmpty(HopyardError, OSError):
    """A folder that holds something was to be removed as an empty one."""

    path: str
    text = "the folder {path} is not empty; pass recursive=True to remove it with its content."


class NotWritable(HopyardError, PermissionError):
    """A file cannot be written to a project."""

    path: str
    reason: str
    text = (
        "{path} cannot be written: {reason}. Set HOPYARD_ROOT (or --root) to a folder that you may write to."
    )


class StoreFailed(HopyardError, OSError):
    """The store answered a call with an error that is none of the above, or not at all."""

    path: str
    reason: str
    text = "the store failed at {path}: {reason}"


class StoreUnreachable(StoreFailed, ConnectionError):
    """The server of a project root did not answer the first call."""

    remedy: str
    text = "{path} cannot be reached: {reason}. {remedy}."


class RootUnusable(StoreFailed, PermissionError):
    """The root of a project is there but cannot hold one, or it cannot be made."""

    remedy: str
    text = "the project root {path} cannot be used: {reason}. {remedy}."


class FilesNotStored(HopyardError, OSError):
    """Files of a local folder did not all reach the project."""

    folder: str
    reasons: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        each = "; ".join(f"{path}: {reason}" for path, reason in self.reasons)
        count = "1 file" if len(self.reasons) == 1 else f"{len(self.reasons)} files"
        return f"{count} of {self.folder} could not be copied to the project: {each}"


class JournalTaken(HopyardError, RuntimeError):
    """Never leaves the library: another process writes the journal that this one wants to write.

    A search that is to be resumed raises `StudyBusy` for it.
    """

    path: str
    owner: str
    text = (
        "{path} is being written by another process ({owner}); wait until that process has ended, or stop it."
    )
