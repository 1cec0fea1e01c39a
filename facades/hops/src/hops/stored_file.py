"""Files of a project as Python file objects."""

from __future__ import annotations

import io
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import PathNotFound
from hopyard.store.place import Place

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FLAGS = ("r", "w", "a", "rw")


class StoredFile(io.BufferedRandom):
    """A local copy of a file; what was written reaches the project, whole, when it is closed.

    Args:
        place: The file.
        copy: Its local copy.
        resources: Closed after all else.
        changed: Whether the copy is to be stored even if nothing is written.
    """

    def __init__(self, place: Place, copy: Path, resources: ExitStack, *, changed: bool) -> None:
        self._place = place
        self._copy = copy
        self._resources = resources
        self._changed = changed
        super().__init__(io.FileIO(copy, "r+" if copy.exists() else "w+"))

    def write(self, data: ReadableBuffer) -> int:
        """Writes bytes; they are in the project after `close`."""
        self._changed = True
        return super().write(data)

    def close(self) -> None:
        """Stores what was written."""
        if self.closed:
            return
        with self._resources:
            super().close()
            if self._changed:
                self._place.project.copy_in(self._copy, self._place.relative, overwrite=True)


def open_stored(place: Place, flags: str = "rw") -> StoredFile | io.TextIOWrapper:
    """Returns an open file.

    Args:
        place: The file.
        flags: ``r``: it has to exist; ``w``: it starts empty; ``a``: it is continued; ``rw``: it is read
            and changed, and made if it is not there. A trailing ``t`` gives text instead of bytes.

    Raises:
        PathNotFound: It is to be read and is not there.
    """
    mode = flags.rstrip("bt")
    if mode not in _FLAGS:
        raise ValueError(f"flags={flags!r}: use one of {', '.join(_FLAGS)}, each with or without 't'.")
    with ExitStack() as resources:
        folder = resources.enter_context(tempfile.TemporaryDirectory(prefix="hopyard-file-"))
        copy = Path(folder) / "copy"
        found = mode != "w" and _fetch(place, copy, must_exist=mode == "r")
        file = StoredFile(place, copy, resources.pop_all(), changed=not found)
    if mode == "a":
        file.seek(0, io.SEEK_END)
    return io.TextIOWrapper(file, encoding="utf-8") if flags.endswith("t") else file


def _fetch(place: Place, copy: Path, *, must_exist: bool) -> bool:
    """Copies the file to this machine; False if there is none."""
    try:
        place.project.copy_out(place.relative, copy)
    except PathNotFound:
        if must_exist:
            raise
        return False
    return True
