"""A local copy of a project folder's event files, for TensorBoard to read."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from hopyard.errors import PathNotFound
from hopyard.store import Entry
from hopyard.store.place import Place

# What TensorBoard itself looks for in the name of a file.
EVENTS = "tfevents"


class EventMirror:
    """Copies the event files below a folder of a project, and at each `sync` what has come since.

    TensorBoard keeps the files open that it reads, and a project replaces a file as a whole when it
    grows: read in place, even on a local disk, a running training would stand still. So the copies are
    never replaced, they grow; and TensorBoard needs to speak no remote file system.

    Args:
        source: A folder of a project.
        target: A local folder for the copies.
        incoming: A local path on the same disk, outside of `target`, for files on their way.
    """

    def __init__(self, source: Place, target: Path, incoming: Path) -> None:
        self._source = source
        self._target = target
        self._incoming = incoming

    def sync(self) -> None:
        """Copies new files, appends what old ones have gained, removes what the project no longer has.

        Raises:
            PathNotFound: The folder itself is gone.
        """
        present = set()
        for entry in self._source.project.walk(self._source.relative):
            if EVENTS in entry.name:
                local = self._target / self._below(entry)
                present.add(local)
                if not local.exists() or local.stat().st_size != entry.size:
                    self._fetch(entry, local)
        for local in self._target.rglob(f"*{EVENTS}*"):
            if local.is_file() and local not in present:
                local.unlink()

    def _below(self, entry: Entry) -> str:
        folder = self._source.relative
        return entry.path.removeprefix(f"{folder}/") if folder else entry.path

    def _fetch(self, entry: Entry, local: Path) -> None:
        # Removed since it was listed: then there is nothing to copy, and the next pass forgets it.
        with contextlib.suppress(PathNotFound):
            self._source.project.copy_out(entry.path, self._incoming, overwrite=True)
            self._take(local)

    def _take(self, local: Path) -> None:
        """Makes the file that came in the content of `local`, in place if it only grew."""
        known = local.stat().st_size if local.exists() else 0
        if known == 0 or self._incoming.stat().st_size < known:
            local.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._incoming, local)
            return
        with self._incoming.open("rb") as source, local.open("ab") as target:
            source.seek(known)
            shutil.copyfileobj(source, target)
