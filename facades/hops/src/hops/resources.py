"""``versioned_resources``: files of the project, copied into the folder of a run as they were at its start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hops.paths import place
from hopyard.scratch import scratch_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Copies of files and folders of the project.

    Attributes:
        copies: Where they are on this machine.
    """

    copies: tuple[Path, ...] = ()

    def copy_to(self, folder: str) -> None:
        """Puts them into a folder of the project, under their own names."""
        target = place(folder)
        for copy in self.copies:
            target.project.copy_in(copy, f"{target.relative}/{copy.name}")


@contextmanager
def versioned(paths: Sequence[str]) -> Iterator[Resources]:
    """Gives copies of files of the project as they are now.

    Raises:
        PathNotFound: One of them is not there.
        AlreadyExists: Two have the same name.
    """
    if not paths:
        yield Resources()
        return
    with scratch_folder("resources") as scratch:
        found = [place(path) for path in paths]
        copies = [
            each.project.copy_out(each.relative, scratch / "files" / each.relative.rpartition("/")[2])
            for each in found
        ]
        yield Resources(copies=tuple(copies))
