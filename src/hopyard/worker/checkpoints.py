"""Where a node keeps checkpoints so that they outlive it: in the project, or in a local copy of what is there.

A project on a file system is written to directly, by all nodes: parameter servers save their own part of a
checkpoint. Other stores have no such paths; there each node gets a copy of what the run has kept, and what
rank 0 adds to its own copy reaches the project while it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import PathNotFound
from hopyard.store import FolderSync
from hopyard.tracking import run_paths

if TYPE_CHECKING:
    from hopyard.worker.task import NodeTask


class Checkpoints:
    """The checkpoints of a run, as a folder on this host; the folder is made when it is first asked for."""

    def __init__(self, task: NodeTask, scratch: Path) -> None:
        self._task = task
        self._relative = run_paths(task.project, task.run_id).checkpoints
        local = task.project.local_path(self._relative)
        self._is_copy = local is None
        self.folder = scratch / "checkpoints" if local is None else local
        self._sync: FolderSync | None = None
        if self._is_copy and task.node.rank == 0:
            self._sync = FolderSync(task.project, self.folder, self._relative, in_order=True)

    def fetch(self) -> None:
        """Makes the folder hold what earlier attempts of the run have kept."""
        if not self._is_copy or self._task.attempt == 0:
            return
        try:
            self._task.project.copy_out(self._relative, self.folder)
        except PathNotFound:  # the attempts before ended before their first checkpoint
            return

    def sync(self) -> None:
        """Copies what is new to the project."""
        if self._sync is not None:
            self._sync.sync()

    def final(self) -> None:
        """Copies the rest, when nobody writes any more.

        Raises:
            FilesNotStored: Some files could not be copied.
        """
        if self._sync is not None:
            self._sync.final()
