"""The files below a local folder, links followed with care."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells one version of a file from another without reading it."""

    size: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Returns the signature of the file that has this status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)

    def grew_to(self, later: Signature) -> bool:
        """Whether a later version may be this one with something added at the end."""
        return self.inode == later.inode and self.size < later.size


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """A regular file below a folder.

    Attributes:
        relative: Path from the folder, separated by slashes.
        path: Where to open it, links resolved.
        signature: Which version of it was seen.
    """

    relative: str
    path: Path
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something below a folder that is not copied, and why."""

    relative: str
    reason: str


def local_files(folder: Path, *, confined: bool) -> Iterator[LocalFile | Refused]:
    """Yields every file below `folder`, sorted by name in each folder.

    What vanishes meanwhile is left out; a missing `folder` has no files.

    Args:
        folder: Where to look.
        confined: Refuse symbolic links that lead out of the folder.
    """
    top = folder.resolve()
    yield from _walk(top, "", top if confined else None, (top,))


def _walk(
    folder: Path, prefix: str, border: Path | None, trail: tuple[Path, ...]
) -> Iterator[LocalFile | Refused]:
    for name in _names(folder):
        relative = f"{prefix}{name}"
        try:
            path = (folder / name).resolve(strict=True)
            status = path.stat()
        except FileNotFoundError:
            if os.path.islink(folder / name):
                yield Refused(relative=relative, reason="the symbolic link leads nowhere")
            continue
        except (RuntimeError, OSError) as error:
            yield Refused(relative=relative, reason=str(error))
            continue
        if border is not None and not path.is_relative_to(border):
            yield Refused(relative=relative, reason=f"the symbolic link leads out of the folder, to {path}")
        elif stat.S_ISREG(status.st_mode):
            yield LocalFile(relative=relative, path=path, signature=Signature.of(status))
        elif not stat.S_ISDIR(status.st_mode):
            yield Refused(relative=relative, reason="it is neither a file nor a folder")
        elif path in trail:
            yield Refused(relative=relative, reason=f"the symbolic link leads in a circle, to {path}")
        else:
            yield from _walk(path, f"{relative}/", border, (*trail, path))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
