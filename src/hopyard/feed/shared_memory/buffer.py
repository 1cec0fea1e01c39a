"""Memory that a feeder shares with the nodes on its host: rows get from one to the other without a socket.

A buffer is a file that exists in memory only, and vanishes with the last process that has it open. Which batch lies
where (`Place`) is told over the wire. The buffer itself says which parts of it are in use, so that a reader frees them
without a message, whenever nothing refers to the batch any more.
"""

from __future__ import annotations

import mmap
import os
import secrets
import struct
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self, TypeAlias

import pyarrow as pa

SHELF_BYTES = 64 << 20
UNIT_BYTES = 64 << 10
PAGE_BYTES = 4096
SPARE_BYTES = 256
HEAD = struct.Struct("<32sI")
FREE, IN_USE = b"\0", b"\1"

Marks: TypeAlias = "bytearray | memoryview"


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferName:
    """How another process of the same user finds a buffer.

    Attributes:
        pid: The process that made it.
        descriptor: Its file there.
        key: Digits that the buffer begins with: by now, the file may be another one.
    """

    pid: int
    descriptor: int
    key: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.pid}.{self.descriptor}.{self.key}"

    @classmethod
    def of(cls, text: str) -> Self:
        """Returns the name that a text says."""
        pid, descriptor, key = text.split(".")
        return cls(pid=int(pid), descriptor=int(descriptor), key=key)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a buffer a batch lies."""

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


class Laid(NamedTuple):
    """A batch that lies in a buffer."""

    batch: pa.RecordBatch
    place: Place


class SharedBuffer:
    """Memory for batches that other processes can read; one thread fills it, until it is closed.

    A place is in use as long as the feeder has the batch that lies there, or a node to which it was handed over.

    Args:
        size: How many bytes it has room for.
    """

    def __init__(self, size: int = SHELF_BYTES) -> None:
        units = size // UNIT_BYTES
        key = secrets.token_hex(16)
        self._file = os.memfd_create("hopyard-buffer")
        os.pwrite(self._file, HEAD.pack(key.encode(), units), 0)
        os.ftruncate(self._file, _first_unit(units) + units * UNIT_BYTES)
        self._boards = _Boards(self._file)
        self._kept = bytearray(units)
        self.name = BufferName(pid=os.getpid(), descriptor=self._file, key=key)

    def close(self) -> None:
        """Takes the buffer away; who has opened it keeps what lies in it."""
        os.close(self._file)

    def put(self, batch: pa.RecordBatch) -> Laid | None:
        """Returns a copy of a batch that lies in the buffer; None if there is no room for it."""
        size = pa.ipc.get_record_batch_size(batch) + batch.schema.serialize().size + SPARE_BYTES
        units = -(-size // UNIT_BYTES)
        unit = self._free().find(FREE * units)
        if unit < 0:
            return None
        sink = pa.FixedSizeBufferWriter(pa.py_buffer(self._boards.room(unit, units * UNIT_BYTES)))
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        place = Place(unit, units, sink.tell())
        _mark(self._kept, place, IN_USE)
        return Laid(self._boards.batch(place, self._kept), place)

    def hand_over(self, place: Place) -> None:
        """Records that a node is told of a place."""
        _mark(self._boards.marks, place, IN_USE)

    def _free(self) -> bytes:
        """Returns a mark for each unit, after those of the feeder and those of the nodes."""
        marks = (int.from_bytes(self._kept, "little"), int.from_bytes(self._boards.marks, "little"))
        return (marks[0] | marks[1]).to_bytes(len(self._kept), "little")


class OpenBuffer:
    """A buffer of another process, to read from.

    Args:
        name: Which one.

    Raises:
        OSError: It cannot be reached from here, or does not exist any more.
    """

    def __init__(self, name: BufferName) -> None:
        path = f"/proc/{name.pid}/fd/{name.descriptor}"
        with open(path, "r+b", buffering=0) as file:
            try:
                self._boards = _Boards(file.fileno())
            except (ValueError, struct.error) as error:
                raise FileNotFoundError(f"{path} is no buffer") from error
        if self._boards.key != name.key:
            raise FileNotFoundError(f"{path} is another buffer")

    def batch(self, place: Place) -> pa.RecordBatch:
        """Returns a batch that was handed over, as it lies there; one can do so once."""
        return self._boards.batch(place, self._boards.marks)


class _Boards:
    """The memory of a buffer: its key, the marks of the nodes that say which units are in use, and the units."""

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, 0)
        key, units = HEAD.unpack_from(self._memory)
        self.key = key.decode("ascii", "replace")
        self.marks = memoryview(self._memory)[HEAD.size : HEAD.size + units]
        self._first = _first_unit(units)

    def room(self, unit: int, size: int) -> memoryview:
        """Returns the bytes from a unit on."""
        start = self._first + unit * UNIT_BYTES
        return memoryview(self._memory)[start : start + size]

    def batch(self, place: Place, marks: Marks) -> pa.RecordBatch:
        """Returns what lies at a place; when nothing refers to it any more, some marks say that it is free."""
        room = pa.py_buffer(self.room(place.unit, place.size))
        loan = _Loan(self, place, marks)
        with pa.ipc.open_stream(pa.foreign_buffer(room.address, room.size, base=loan)) as reader:
            return reader.read_next_batch()


class _Loan:
    """A place that is in use. It may be given back at the very end of the interpreter, when there are no globals left."""

    __slots__ = ("_boards", "_free", "_marks", "_units")

    def __init__(self, boards: _Boards, place: Place, marks: Marks) -> None:
        self._boards = boards
        self._marks = marks
        self._units = slice(place.unit, place.unit + place.units)
        self._free = FREE * place.units

    def __del__(self) -> None:
        self._marks[self._units] = self._free


def _mark(marks: Marks, place: Place, mark: bytes) -> None:
    marks[place.unit : place.unit + place.units] = mark * place.units


def _first_unit(units: int) -> int:
    return -(-(HEAD.size + units) // PAGE_BYTES) * PAGE_BYTES
