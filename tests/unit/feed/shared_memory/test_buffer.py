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
def shelf() -> Iterator[SharedBuffer]:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as shelf:
        yield shelf


def batch(first: int, rows: int = 100) -> pa.RecordBatch:
    return pa.record_batch({"number": np.arange(first, first + rows), "word": [f"w{first}"] * rows})


def big() -> pa.RecordBatch:
    return batch(0, rows=UNITS * UNIT_BYTES // 8)


def lay(shelf: SharedBuffer, rows: pa.RecordBatch) -> Place:
    laid = shelf.put(rows)
    assert laid is not None
    shelf.hand_over(laid.place)
    return laid.place


def test_a_batch_can_be_read_where_it_lies(shelf: SharedBuffer) -> None:
    place = lay(shelf, batch(5))
    read = OpenBuffer(BufferName.of(str(shelf.name))).batch(Place.of(place.to_bytes()))
    assert read.equals(batch(5))


def test_the_feeder_keeps_what_it_has_laid_down(shelf: SharedBuffer) -> None:
    laid = [shelf.put(batch(number)) for number in range(UNITS)]
    assert [each is not None and each.batch.equals(batch(number)) for number, each in enumerate(laid)] == [
        True
    ] * UNITS
    assert shelf.put(batch(9)) is None


def test_a_place_is_free_when_neither_side_has_the_batch(shelf: SharedBuffer) -> None:
    reader = OpenBuffer(shelf.name)
    places = [lay(shelf, batch(number)) for number in range(UNITS)]
    batches = [reader.batch(place) for place in places]
    assert shelf.put(batch(9)) is None
    numbers = batches.pop(2).column("number").to_numpy()
    assert shelf.put(batch(9)) is None  # an array of it is enough
    assert numbers[0] == 2
    del numbers
    laid = shelf.put(batch(9))
    assert laid is not None
    assert laid.place == places[2]
    assert [each.column("number")[0].as_py() for each in batches] == [0, 1, 3]


def test_a_batch_that_was_never_handed_over_leaves_its_place_with_the_feeder(shelf: SharedBuffer) -> None:
    for number in range(3 * UNITS):
        assert shelf.put(batch(number)) is not None


def test_a_batch_that_is_too_big_is_not_laid_down(shelf: SharedBuffer) -> None:
    assert shelf.put(big()) is None


def test_a_batch_may_lie_on_several_units(shelf: SharedBuffer) -> None:
    rows = batch(0, rows=UNIT_BYTES // 8)
    assert OpenBuffer(shelf.name).batch(lay(shelf, rows)).equals(rows)


def test_a_slice_is_laid_down_without_the_rest(shelf: SharedBuffer) -> None:
    laid = shelf.put(big().slice(7, 3))
    assert laid is not None
    assert laid.place.units == 1
    assert laid.batch.equals(big().slice(7, 3))


def test_what_was_opened_stays_when_the_shelf_is_gone() -> None:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as shelf:
        read = OpenBuffer(shelf.name).batch(lay(shelf, batch(5)))
    assert read.equals(batch(5))


def test_a_shelf_that_is_gone_cannot_be_opened() -> None:
    with closing(SharedBuffer(UNITS * UNIT_BYTES)) as shelf:
        name = shelf.name
    with pytest.raises(OSError, match="fd"):
        OpenBuffer(name)


def test_another_file_is_not_taken_for_the_shelf(shelf: SharedBuffer) -> None:
    with (
        closing(SharedBuffer(UNITS * UNIT_BYTES)) as other,
        pytest.raises(FileNotFoundError, match="another shelf"),
    ):
        OpenBuffer(BufferName(pid=os.getpid(), descriptor=other.name.descriptor, key=shelf.name.key))


@pytest.mark.parametrize("content", [b"", b"short"])
def test_a_file_that_is_no_shelf_is_refused(shelf: SharedBuffer, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with path.open("r+b") as file, pytest.raises(FileNotFoundError, match="is no shelf"):
        OpenBuffer(BufferName(pid=os.getpid(), descriptor=file.fileno(), key=shelf.name.key))


READER = """
import sys
from hopyard.feed.shared_memory.buffer import OpenBuffer, Place, BufferName

shelf = OpenBuffer(BufferName.of(sys.argv[1]))
for line in sys.stdin:
    batch = shelf.batch(Place.of(bytes.fromhex(line)))
    number = batch.column("number")[0].as_py()
    del batch
    print(number, flush=True)
"""


def test_another_process_reads_what_lies_there_and_frees_it(shelf: SharedBuffer) -> None:
    command = [sys.executable, "-c", READER, str(shelf.name)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for number in range(3 * UNITS):
            print(lay(shelf, batch(number)).to_bytes().hex(), file=reader.stdin, flush=True)
            assert reader.stdout.readline() == f"{number}\n"
        reader.stdin.close()
        assert reader.wait(30) == 0
