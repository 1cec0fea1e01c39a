"""Many records read at once: the good ones, and beside them those that could not be understood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from hopyard.codec.records import decode
from hopyard.errors import CorruptRecord
from hopyard.tracking.records import Record

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Listing(Generic[R]):
    """Records in order; iterating gives the good ones.

    Attributes:
        records: Those that could be read.
        corrupt: What is wrong with the others.
    """

    records: tuple[R, ...]
    corrupt: tuple[CorruptRecord, ...] = ()

    def __iter__(self) -> Iterator[R]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


def decode_all(kind: type[R], stored: Iterable[tuple[str, bytes]]) -> Listing[R]:
    """Returns the records of pairs of path and content; a corrupt one neither stops nor hides the others."""
    records: list[R] = []
    corrupt: list[CorruptRecord] = []
    for path, data in stored:
        try:
            records.append(decode(kind, data, path))
        except CorruptRecord as error:
            corrupt.append(error)
    return Listing(tuple(records), tuple(corrupt))
