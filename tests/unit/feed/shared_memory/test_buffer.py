from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopyard.feed.shared_memory.buffer import UNIT_BYTES, BufferName, OpenBuffer, Place, SharedBuffer

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(sys.platform != "linux", reason="processes of other systems share no such memory"),
]
UNITS = 4


@pytest.fixture
def buffer() -> Iterator[SharedBuffer]:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as buffer:
        yield buffer


def batch(first: int, rows: int = 100) -> pa.RecordBatch:
    return pa.record_batch({"number": np.arange(first, first + rows), "word": [f"w{first}"] * rows})


def big() -> pa.RecordBatch:
    return batch(0, rows=UNITS * UNIT_BYTES // 8)


def lay(buffer: SharedBuffer, rows: pa.RecordBatch) -> Place:
    laid = buffer.put(rows)
    assert laid is not None
    buffer.hand_over(laid.place)
    return laid.place


def test_a_batch_can_be_read_where_it_lies(buffer: SharedBuffer) -> None:
    place = lay(buffer, batch(5))
    read = OpenBuffer(BufferName.of(str(buffer.name))).batch(Place.of(place.to_bytes()))
    assert read.equals(batch(5))


def test_the_feeder_keeps_what_it_has_laid_down(buffer: SharedBuffer) -> None:
    laid = [buffer.put(batch(number)) for number in range(UNITS)]
    assert [each is not None and each.batch.equals(batch(number)) for number, each in enumerate(laid)] == [
        True
    ] * UNITS
    assert buffer.put(batch(9)) is None


def test_a_place_is_free_when_neither_side_has_the_batch(buffer: SharedBuffer) -> None:
    reader = OpenBuffer(buffer.name)
    places = [lay(buffer, batch(number)) for number in range(UNITS)]
    batches = [reader.batch(place) for place in places]
    assert buffer.put(batch(9)) is None
    numbers = batches.pop(2).column("number").to_numpy()
    assert buffer.put(batch(9)) is None  # an array of it is enough
    assert numbers[0] == 2
    del numbers
    laid = buffer.put(batch(9))
    assert laid is not None
    assert laid.place == places[2]
    assert [each.column("number")[0].as_py() for each in batches] == [0, 1, 3]


def test_a_batch_that_was_never_handed_over_leaves_its_place_with_the_feeder(buffer: SharedBuffer) -> None:
    for number in range(3 * UNITS):
        assert buffer.put(batch(number)) is not None


def test_a_batch_that_is_too_big_is_not_laid_down(buffer: SharedBuffer) -> None:
    assert buffer.put(big()) is None


def test_a_batch_may_lie_on_several_units(buffer: SharedBuffer) -> None:
    rows = batch(0, rows=UNIT_BYTES // 8)
    assert OpenBuffer(buffer.name).batch(lay(buffer, rows)).equals(rows)


def test_a_slice_is_laid_down_without_the_rest(buffer: SharedBuffer) -> None:
    laid = buffer.put(big().slice(7, 3))
    assert laid is not None
    assert laid.place.units == 1
    assert laid.batch.equals(big().slice(7, 3))


def test_what_was_opened_stays_when_the_buffer_is_gone() -> None:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as buffer:
        read = OpenBuffer(buffer.name).batch(lay(buffer, batch(5)))
    assert read.equals(batch(5))


def test_a_buffer_that_is_gone_cannot_be_opened() -> None:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as buffer:
        name = buffer.name
    with pytest.raises(OSError, match="fd"):
        OpenBuffer(name)


def test_another_file_is_not_taken_for_the_buffer(buffer: SharedBuffer) -> None:
    with (
        closing(SharedBuffer(UNITS * UNIT_BYTES)) as other,
        pytest.raises(FileNotFoundError, match="another buffer"),
    ):
        OpenBuffer(BufferName(pid=os.getpid(), descriptor=other.name.descriptor, key=buffer.name.key))


@pytest.mark.parametrize("content", [b"", b"short"])
def test_a_file_that_is_no_buffer_is_refused(buffer: SharedBuffer, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with path.open("r+b") as file, pytest.raises(FileNotFoundError, match="is no buffer"):
        OpenBuffer(BufferName(pid=os.getpid(), descriptor=file.fileno(), key=buffer.name.key))


READER = """
import sys
from hopyard.feed.shared_memory.buffer import OpenBuffer, Place, BufferName

buffer = OpenBuffer(BufferName.of(sys.argv[1]))
for line in sys.stdin:
    batch = buffer.batch(Place.of(bytes.fromhex(line)))
    number = batch.column("number")[0].as_py()
    del batch
    print(number, flush=True)
"""


def test_another_process_reads_what_lies_there_and_frees_it(buffer: SharedBuffer) -> None:
    command = [sys.executable, "-c", READER, str(buffer.name)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for number in range(3 * UNITS):
            print(lay(buffer, batch(number)).to_bytes().hex(), file=reader.stdin, flush=True)
            assert reader.stdout.readline() == f"{number}\n"
        reader.stdin.close()
        assert reader.wait(30) == 0
