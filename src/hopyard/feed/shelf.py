"""Memory that a feeder shares with the nodes on its host: rows get from one to the other without a socket.

A shelf is a file that exists in memory only, and vanishes with the last process that has it open. Which batch lies
where (`Place`) is told over the wire. The shelf itself says which parts of it are in use, so that a reader frees them
without a message, whenever nothing refers to the batch any more.
"""

from __future__ import annotations

import mmap
import os
import secrets
import struct
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

SHELF_BYTES = 32 << 20
UNIT_BYTES = 64 << 10
PAGE_BYTES = 4096
SPARE_BYTES = 256
FREE, IN_USE = b"\0", b"\1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfName:
    """How another process of the same user finds a shelf.

    Attributes:
        pid: The process that made it.
        descriptor: Its file there.
        key: Digits that the shelf begins with: by now, the file may be another one.
    """

    pid: int
    descriptor: int
    key: str

    def __str__(self) -> str:
        return f"{self.pid}.{self.descriptor}.{self.key}"

    @classmethod
    def of(cls, text: str) -> Self:
        """Returns the name that a text says."""
        pid, descriptor, key = text.split(".")
        return cls(pid=int(pid), descriptor=int(descriptor), key=key)


@dataclass(frozen=True, slots=True)
class Place:
    """Where on a shelf a batch lies."""

    unit: int
    units: int
    size: int

    FORM: ClassVar[struct.Struct] = struct.Struct("<IIQ")

    def to_bytes(self) -> bytes:
        """Returns this as it travels."""
        return self.FORM.pack(self.unit, self.units, self.size)

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Returns a place that has travelled."""
        return cls(*cls.FORM.unpack(data))


class _Boards:
    """The bytes of a shelf: its key, a mark for each unit that says whether it is in use, and the units."""

    HEAD: ClassVar[struct.Struct] = struct.Struct("<32sI")

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, 0)
        key, self._units = self.HEAD.unpack_from(self._memory)
        self.key = key.decode("ascii", "replace")
        self._first = _first_unit(self._units)

    def reserve(self, units: int) -> int | None:
        """Returns the number of the first of some free units, which are in use now; None if there are none."""
        start = self.HEAD.size
        found = self._memory.find(FREE * units, start, start + self._units)
        if found < 0:
            return None
        self._mark(found - start, units, IN_USE)
        return found - start

    def release(self, unit: int, units: int) -> None:
        """Makes units free."""
        self._mark(unit, units, FREE)

    def room(self, unit: int, size: int) -> memoryview:
        """Returns the bytes from a unit on."""
        start = self._first + unit * UNIT_BYTES
        return memoryview(self._memory)[start : start + size]

    def _mark(self, unit: int, units: int, mark: bytes) -> None:
        start = self.HEAD.size + unit
        self._memory[start : start + units] = mark * units


class Shelf:
    """A shelf to put batches on, from any thread, while its context is open.

    Args:
        size: How many bytes it has room for.
    """

    def __init__(self, size: int = SHELF_BYTES) -> None:
        units = size // UNIT_BYTES
        key = secrets.token_hex(16)
        self._file = os.memfd_create("hopyard-shelf")
        os.pwrite(self._file, _Boards.HEAD.pack(key.encode(), units), 0)
        os.ftruncate(self._file, _first_unit(units) + units * UNIT_BYTES)
        self._boards = _Boards(self._file)
        self._lock = threading.Lock()
        self.name = ShelfName(pid=os.getpid(), descriptor=self._file, key=key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Takes the shelf away; who has opened it keeps what lies on it."""
        os.close(self._file)

    def put(self, batch: pa.RecordBatch) -> Place | None:
        """Writes a batch where there is room for it; returns None if there is none."""
        size = pa.ipc.get_record_batch_size(batch) + batch.schema.serialize().size + SPARE_BYTES
        units = -(-size // UNIT_BYTES)
        with self._lock:
            unit = self._boards.reserve(units)
        if unit is None:
            return None
        sink = pa.FixedSizeBufferWriter(pa.py_buffer(self._boards.room(unit, units * UNIT_BYTES)))
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return Place(unit, units, sink.tell())


def shared_shelf(*, is_near: bool) -> AbstractContextManager[Shelf | None]:
    """Returns a shelf, if somebody is near to share it with and this system can."""
    return Shelf() if is_near and sys.platform == "linux" else nullcontext()


class OpenShelf:
    """A shelf of another process, to read from.

    Args:
        name: Which one.

    Raises:
        OSError: It cannot be reached from here, or does not exist any more.
    """

    def __init__(self, name: ShelfName) -> None:
        path = f"/proc/{name.pid}/fd/{name.descriptor}"
        with open(path, "r+b", buffering=0) as file:
            try:
                self._boards = _Boards(file.fileno())
            except (ValueError, struct.error) as error:
                raise FileNotFoundError(f"{path} is no shelf") from error
        if self._boards.key != name.key:
            raise FileNotFoundError(f"{path} is another shelf")

    def batch(self, place: Place) -> pa.RecordBatch:
        """Returns a batch as it lies there; its place is free again when nothing refers to it any more."""
        loan = _Loan(self._boards, place)
        with pa.ipc.open_stream(loan.buffer()) as reader:
            return reader.read_next_batch()


class _Loan:
    """A place that is being read."""

    __slots__ = ("_boards", "_place")

    def __init__(self, boards: _Boards, place: Place) -> None:
        self._boards = boards
        self._place = place

    def buffer(self) -> pa.Buffer:
        """Returns the bytes of it, which keep this alive."""
        room = pa.py_buffer(self._boards.room(self._place.unit, self._place.size))
        return pa.foreign_buffer(room.address, room.size, base=self)

    def __del__(self) -> None:
        self._boards.release(self._place.unit, self._place.units)


def _first_unit(units: int) -> int:
    return -(-(_Boards.HEAD.size + units) // PAGE_BYTES) * PAGE_BYTES
