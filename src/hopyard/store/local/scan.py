"""What a look at a local folder found, oldest file first, while a program writes into it.

No look at a folder is a moment's picture: while it goes on, a program may write a file into a part that was looked
at already, and then another one that points to it into a part that was not. Two looks tell what can be trusted. A
file that both have seen in the same version was there before the second one began, and so was all that was
written before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hopyard.store.local.tree import LocalFile, Refused, Signature, local_files

_BEFORE_ALL = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a look at a folder found.

    Attributes:
        files: Its files in the order in which they were written.
        refused: What is in it and cannot be copied.
        earlier: The versions that the look before this one has seen, by path.
        border: The newest time of files that nothing older is missing from, in nanoseconds.
    """

    files: tuple[LocalFile, ...] = ()
    refused: tuple[Refused, ...] = ()
    earlier: Mapping[str, Signature] = field(default_factory=dict)
    border: int = _BEFORE_ALL

    def again(self, folder: Path) -> Look:
        """Returns what is found in a folder now, after this look at it."""
        found = list(local_files(folder, confined=True))
        files = sorted((item for item in found if isinstance(item, LocalFile)), key=_place_in_order)
        earlier = {file.relative: file.signature for file in self.files}
        return Look(
            files=tuple(files),
            refused=tuple(item for item in found if isinstance(item, Refused)),
            earlier=earlier,
            border=_border(files, earlier),
        )

    def is_settled(self, file: LocalFile) -> bool:
        """Whether all files that were written before this one were found, too."""
        return file.signature.modified_ns <= self.border

    def is_growing(self, file: LocalFile) -> bool:
        """Whether a file has become longer since the look before, as logs do."""
        before = self.earlier.get(file.relative)
        return before is not None and before.grew_to(file.signature)


def _place_in_order(file: LocalFile) -> tuple[int, int, str]:
    # Files that were written within one tick of the clock have the same time. An index is smaller than its data.
    return file.signature.modified_ns, -file.signature.size, file.relative


def _border(files: list[LocalFile], earlier: Mapping[str, Signature]) -> int:
    seen = {file.signature.modified_ns for file in files if earlier.get(file.relative) == file.signature}
    fresh = {file.signature.modified_ns for file in files if earlier.get(file.relative) != file.signature}
    newest = max(seen, default=_BEFORE_ALL)
    # Which of two files is older that were written within one tick, nobody knows.
    return newest - 1 if newest in fresh else newest
