"""Pieces on disk: written one after the other, mapped back into memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

FILE_BYTES = 1 << 30
"""From this size on, a file gets no further piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a piece lies: number of the file, and bytes in it."""

    file: int
    start: int
    size: int


def stored_size(batch: pa.RecordBatch) -> int:
    """Returns how many bytes a piece takes on disk; nothing is copied to find out."""
    counter = pa.MockOutputStream()
    _write_stream(counter, batch)
    size: int = counter.size()
    return size


class PieceFiles:
    """The pieces in the files of a folder, which belongs to this object alone; one thread may write.

    Each piece is an uncompressed Arrow IPC stream of its own, so that pieces with different schemas or
    dictionaries lie side by side, and each can be read in any order, also while others are written.
    """

    def __init__(self, folder: Path, *, file_bytes: int = FILE_BYTES) -> None:
        self._folder = folder
        self._file_bytes = file_bytes
        self._count = 0
        self._sink: pa.NativeFile | None = None

    def write(self, batch: pa.RecordBatch) -> Place:
        """Adds a piece and returns where it is.

        Raises:
            OSError: It cannot be written, and may be there in part.
        """
        if self._sink is None or self._sink.tell() >= self._file_bytes:
            self._sink = self._next_file()
        start = self._sink.tell()
        _write_stream(self._sink, batch)
        return Place(file=self._count - 1, start=start, size=self._sink.tell() - start)

    def read(self, places: Sequence[Place]) -> list[pa.RecordBatch]:
        """Returns pieces whose columns point into the files.

        The files are mapped anew for each call, and that mapping goes with the last of the batches. One
        mapping for all calls would let the resident memory of the process grow to the size of the files.
        """
        with ExitStack() as opened:
            files = {
                number: opened.enter_context(pa.memory_map(str(self._path(number))))
                for number in {place.file for place in places}
            }
            return [_read_stream(files[place.file], place) for place in places]

    def finish(self) -> None:
        """Closes the file that is being written."""
        if self._sink is not None:
            self._sink.close()
            self._sink = None

    def remove(self) -> None:
        """Removes all files; batches that were read stay valid."""
        self.finish()
        for number in range(self._count):
            self._path(number).unlink(missing_ok=True)
        self._count = 0

    def _next_file(self) -> pa.NativeFile:
        self.finish()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._count += 1
        return pa.OSFile(str(self._path(self._count - 1)), "wb")

    def _path(self, number: int) -> Path:
        return self._folder / f"pieces-{number:05d}.arrows"


def _write_stream(sink: pa.NativeFile, batch: pa.RecordBatch) -> None:
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _read_stream(file: pa.NativeFile, place: Place) -> pa.RecordBatch:
    file.seek(place.start)
    return pa.ipc.open_stream(file.read_buffer(place.size)).read_next_batch()
