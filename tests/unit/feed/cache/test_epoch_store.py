from __future__ import annotations

import itertools
import logging
import random
import shutil
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from hopyard.errors import WrongEpochState
from hopyard.feed.cache.epoch_store import MOST_BYTES, EpochStore, default_limit
from hopyard.feed.pieces import is_pickled, pack, unpack

pytestmark = pytest.mark.unit

PLENTY = 1 << 30
FIRST_FILE = "pieces-00000.arrows"


def numbers(first: int, rows: int) -> pa.RecordBatch:
    column = pa.array(range(first, first + rows), pa.int64())
    return pa.record_batch({"x": column, "text": [f"row {first + row}" for row in range(rows)]})


def read(pieces: Iterable[tuple[pa.RecordBatch, int]]) -> list[object]:
    rows: list[object] = []
    for batch, count in pieces:
        found = unpack(batch) if is_pickled(batch.schema) else batch.column(0).to_pylist()
        assert len(found) == count
        rows += found
    return rows


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EpochStore]:
    """A store with 20 pieces of 50 rows, sealed, whose windows hold some five pieces."""
    size = 1400
    with EpochStore(tmp_path / "epoch", limit_bytes=PLENTY, window_bytes=5 * size) as store:
        for first in range(0, 1000, 50):
            assert store.append(numbers(first, 50), 50)
        assert 19 * size < store.bytes < 20 * size
        store.seal()
        yield store


def test_without_a_seed_pieces_come_back_as_they_arrived(store: EpochStore) -> None:
    replayed = list(store.replay(epoch=1, seed=None))
    assert [batch.to_pydict() for batch, _ in replayed] == [
        numbers(first, 50).to_pydict() for first in range(0, 1000, 50)
    ]
    assert [rows for _, rows in replayed] == [50] * 20


def test_the_store_knows_how_much_it_keeps(store: EpochStore, tmp_path: Path) -> None:
    assert store.rows == 1000
    assert store.bytes == sum(file.stat().st_size for file in (tmp_path / "epoch").iterdir())


def test_with_a_seed_rows_change_places_beyond_their_pieces(store: EpochStore) -> None:
    first_piece, _ = next(store.replay(epoch=1, seed=7))
    from_pieces = {row // 50 for row in first_piece.column("x").to_pylist()}
    assert len(from_pieces) > 2
    assert from_pieces != set(range(len(from_pieces)))


def test_a_row_keeps_its_columns_together_when_it_changes_places(store: EpochStore) -> None:
    for batch, _ in store.replay(epoch=1, seed=7):
        assert batch["text"].to_pylist() == [f"row {number}" for number in batch["x"].to_pylist()]


def test_the_same_seed_and_epoch_give_the_same_order(store: EpochStore) -> None:
    assert read(store.replay(epoch=3, seed=7)) == read(store.replay(epoch=3, seed=7))


def test_another_epoch_or_another_seed_gives_another_order(store: EpochStore) -> None:
    orders = [
        tuple(read(store.replay(epoch=epoch, seed=seed))) for epoch in (0, 1, 2) for seed in (None, 0, 1, -1)
    ]
    assert len(set(orders)) == 3 * 3 + 1


def test_shuffled_pieces_are_about_as_long_as_those_that_arrived(store: EpochStore) -> None:
    assert {rows for _, rows in store.replay(epoch=1, seed=7)} == {50}


@pytest.mark.parametrize("trial", range(25))
def test_every_row_comes_exactly_once_in_each_epoch(trial: int, tmp_path: Path) -> None:
    dice = random.Random(trial)
    with EpochStore(
        tmp_path,
        limit_bytes=PLENTY,
        window_bytes=dice.choice([1, 2000, 20_000, PLENTY]),
        file_bytes=dice.choice([1, 5000, PLENTY]),
    ) as store:
        total = 0
        for _ in range(dice.randrange(30)):
            rows = dice.choice([0, 1, 2, 30])
            piece = dice.choice([numbers(total, rows), pack(list(range(total, total + rows)))])
            assert store.append(piece, rows)
            total += rows
        store.seal()
        assert store.rows == total
        assert read(store.replay(epoch=0, seed=None)) == list(range(total))
        for epoch in range(3):
            assert Counter(read(store.replay(epoch=epoch, seed=trial))) == Counter(range(total))


def test_pickled_rows_are_shuffled_too(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY) as store:
        for first in range(0, 100, 20):
            store.append(pack([("row", first + row) for row in range(20)]), 20)
        store.seal()
        replayed = list(store.replay(epoch=1, seed=0))
    assert [rows for _, rows in replayed] == [20] * 5
    for batch, _ in replayed:
        rows = [number for _, number in unpack(batch)]  # type: ignore[misc]
        assert rows != sorted(rows)
        assert len({number // 20 for number in rows}) > 1


def test_fewer_pickled_pieces_are_shuffled_together_since_objects_are_larger(tmp_path: Path) -> None:
    pieces = [pack([first] * 2000) for first in range(6)]
    with EpochStore(tmp_path, limit_bytes=PLENTY, window_bytes=4 * pieces[0].nbytes) as store:
        for piece in pieces:
            store.append(piece, 2000)
        store.seal()
        for batch, _ in store.replay(epoch=1, seed=0):
            assert len(set(unpack(batch))) == 1


def test_pieces_of_two_schemas_that_come_by_turns_are_shuffled_with_their_like(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY) as store:
        for first in range(0, 200, 20):
            store.append(numbers(first, 20), 20)
            store.append(numbers(first, 20).select(["x"]), 20)
        store.seal()
        for batch, _ in store.replay(epoch=1, seed=0):
            assert len({number // 20 for number in batch["x"].to_pylist()}) > 4


def test_pieces_that_differ_only_in_metadata_keep_theirs(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY) as store:
        for number, unit in enumerate([b"m", b"km", b"m"]):
            store.append(numbers(number, 1).replace_schema_metadata({b"unit": unit}), 1)
        store.seal()
        units = {
            batch.column(0)[0].as_py(): batch.schema.metadata for batch, _ in store.replay(epoch=0, seed=0)
        }
    assert units == {0: {b"unit": b"m"}, 1: {b"unit": b"km"}, 2: {b"unit": b"m"}}


def test_pieces_may_have_dictionaries_of_their_own(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY) as store:
        for words in (["a", "b"], ["c", "a"]):
            store.append(pa.record_batch({"word": pa.array(words).dictionary_encode()}), 2)
        store.seal()
        assert read(store.replay(epoch=0, seed=None)) == ["a", "b", "c", "a"]
        assert sorted(map(str, read(store.replay(epoch=0, seed=1)))) == ["a", "a", "b", "c"]


def test_only_the_slice_of_a_larger_batch_is_kept(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=10_000) as store:
        assert store.append(numbers(0, 100_000).slice(500, 3), 3)
        store.seal()
        assert read(store.replay(epoch=0, seed=None)) == [500, 501, 502]


# --- memory ----------------------------------------------------------------------------------------


def mapped(folder: Path) -> list[range]:
    """The addresses at which files of a folder are mapped into this process."""
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    spans = [line[0].split("-") for line in lines if line[-1].startswith(str(folder))]
    return [range(int(start, 16), int(stop, 16)) for start, stop in spans]


def test_batches_in_the_order_of_arrival_are_read_without_copying(store: EpochStore, tmp_path: Path) -> None:
    for batch, _ in store.replay(epoch=0, seed=None):
        for buffer in itertools.chain.from_iterable(column.buffers() for column in batch.columns):
            assert buffer is None or any(buffer.address in span for span in mapped(tmp_path))


def test_no_more_than_two_windows_are_mapped_at_a_time(store: EpochStore, tmp_path: Path) -> None:
    for seed in (None, 1):
        for _ in store.replay(epoch=0, seed=seed):
            assert len(mapped(tmp_path)) <= 2
        del _
        assert mapped(tmp_path) == []


def test_a_batch_outlives_the_store(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY) as store:
        store.append(numbers(0, 3), 3)
        store.seal()
        ((batch, _),) = store.replay(epoch=0, seed=None)
    assert list(tmp_path.iterdir()) == []
    assert batch.to_pydict() == numbers(0, 3).to_pydict()


# --- limits ----------------------------------------------------------------------------------------


def test_an_epoch_over_the_limit_is_refused_for_ever_and_its_files_go(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=2000, file_bytes=1) as store:
        assert store.append(numbers(0, 50), 50)
        assert not store.append(numbers(50, 50), 50)
        assert not store.append(numbers(100, 1), 1)
        assert not store.is_whole
        assert (store.rows, store.bytes) == (0, 0)
        assert list(tmp_path.iterdir()) == []


def test_an_epoch_may_take_the_limit_to_the_byte(tmp_path: Path) -> None:
    with EpochStore(tmp_path / "measured", limit_bytes=PLENTY) as store:
        store.append(numbers(0, 50), 50)
        size = store.bytes
    with EpochStore(tmp_path / "enough", limit_bytes=size) as store:
        assert store.append(numbers(0, 50), 50)
    with EpochStore(tmp_path / "short", limit_bytes=size - 1) as store:
        assert not store.append(numbers(0, 50), 50)


def test_a_full_disk_is_no_failure_but_an_epoch_that_does_not_fit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FIRST_FILE).symlink_to("/dev/full")
    with EpochStore(tmp_path, limit_bytes=PLENTY) as store, caplog.at_level(logging.WARNING):
        assert not store.append(numbers(0, 5), 5)
        assert not store.is_whole
    assert "full" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_any_other_trouble_with_the_disk_is_raised(tmp_path: Path) -> None:
    (tmp_path / FIRST_FILE).symlink_to("gone/away")
    store = EpochStore(tmp_path, limit_bytes=PLENTY)
    with pytest.raises(FileNotFoundError):
        store.append(numbers(0, 5), 5)
    assert not store.is_whole


def test_the_default_limit_is_half_of_the_free_disk_or_64_gib(tmp_path: Path) -> None:
    half = shutil.disk_usage(tmp_path).free / 2
    assert default_limit(tmp_path) <= MOST_BYTES
    assert default_limit(tmp_path) == pytest.approx(min(half, MOST_BYTES), rel=0.1)


# --- states ----------------------------------------------------------------------------------------


def test_a_sealed_epoch_takes_no_piece(store: EpochStore) -> None:
    with pytest.raises(WrongEpochState, match="sealed and cannot take a piece"):
        store.append(numbers(0, 1), 1)


def test_an_epoch_is_replayed_only_when_it_is_sealed(tmp_path: Path) -> None:
    with (
        EpochStore(tmp_path, limit_bytes=PLENTY) as store,
        pytest.raises(WrongEpochState, match="open and cannot be replayed"),
    ):
        store.replay(epoch=0, seed=None)


def test_a_dropped_epoch_can_be_sealed_and_not_replayed(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=1) as store:
        assert not store.append(numbers(0, 1), 1)
        store.seal()
        with pytest.raises(WrongEpochState, match="dropped"):
            store.replay(epoch=0, seed=None)


def test_a_replay_that_goes_on_after_the_store_is_closed_says_so(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY, window_bytes=1) as store:
        store.append(numbers(0, 1), 1)
        store.append(numbers(1, 1), 1)
        store.seal()
        replay = store.replay(epoch=0, seed=None)
        next(replay)
    with pytest.raises(WrongEpochState, match="closed"):
        next(replay)


def keep_two_pieces_and_fail(folder: Path) -> None:
    with EpochStore(folder, limit_bytes=PLENTY, file_bytes=1) as store:
        store.append(numbers(0, 1), 1)
        store.append(numbers(1, 1), 1)
        assert len(list(folder.iterdir())) == 2
        raise KeyError


def test_the_files_go_also_when_the_context_ends_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        keep_two_pieces_and_fail(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_threads_append_at_the_same_time(tmp_path: Path) -> None:
    with EpochStore(tmp_path, limit_bytes=PLENTY, file_bytes=4000) as store:
        start = threading.Barrier(4)

        def append(number: int) -> None:
            start.wait(timeout=10)
            for piece in range(25):
                assert store.append(numbers(1000 * number + 10 * piece, 10), 10)

        threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=20)
        store.seal()
        expected = [1000 * number + row for number in range(4) for row in range(250)]
        assert sorted(map(int, read(store.replay(epoch=0, seed=None)))) == expected  # type: ignore[call-overload]
