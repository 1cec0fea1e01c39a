from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from hopyard.feed.pieces import FIRST_ROWS, Order, Piece, cut_batches, cut_rows, is_pickled, pack, unpack
from hopyard.feed.ranges import Ranges

pytestmark = pytest.mark.unit


def batch(first: int, rows: int) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(range(first, first + rows), pa.int64())})


def numbers(pieces: list[Piece]) -> list[int]:
    return [number for piece in pieces for number in piece.batch.column("x").to_pylist()]


def test_the_batches_of_a_partition_are_cut_into_even_pieces_of_about_a_size() -> None:
    pieces = list(cut_batches([batch(0, 100), batch(100, 30)], piece_bytes=8 * 40))
    assert [(piece.start, piece.rows) for piece in pieces] == [(0, 50), (50, 50), (100, 30)]
    assert numbers(pieces) == list(range(130))


@pytest.mark.parametrize("cut", [cut_rows, cut_batches])
@pytest.mark.parametrize("nodes", [2, 3, 16])
@pytest.mark.parametrize("rows", [640, 3001, 9_999, 10_001, 25_000])
def test_nodes_get_about_the_same_of_a_small_partition(
    rows: int, nodes: int, cut: Callable[..., Iterator[Piece]]
) -> None:
    batches = [batch(first, min(10_000, rows - first)) for first in range(0, rows, 10_000)]
    shares = [0] * nodes
    for piece in cut(range(rows) if cut is cut_rows else batches, nodes=nodes):
        shares[shares.index(min(shares))] += piece.rows
    assert sum(shares) == rows
    assert min(shares) >= min(0.75 * max(shares), max(shares) - FIRST_ROWS)


def test_the_pieces_of_a_big_partition_are_whole_for_several_nodes_too() -> None:
    batches = [batch(first, 1000) for first in range(0, 100_000, 1000)]
    sizes = [piece.rows for piece in cut_batches(batches, piece_bytes=8_000, nodes=2)]
    assert sizes[:8] == [125] * 8
    assert sizes[-93:] == [1000] * 93
    assert len(sizes) < 120


def test_a_few_rows_are_one_piece_for_several_nodes_too() -> None:
    assert [piece.rows for piece in cut_batches([batch(0, 20)], nodes=4)] == [20]


@pytest.mark.parametrize("cut", [cut_rows, cut_batches])
def test_a_repeated_task_cuts_the_rows_that_are_missing_as_before(
    cut: Callable[..., Iterator[Piece]],
) -> None:
    rows = range(3001) if cut is cut_rows else [batch(0, 3001)]
    pieces = list(cut(rows, nodes=2))
    has = Ranges([(piece.start, piece.start + piece.rows) for piece in pieces[1::2]])
    again = list(cut(rows, nodes=2, without=has))
    assert [(piece.start, piece.rows) for piece in again] == [
        (piece.start, piece.rows) for piece in pieces[::2]
    ]


def test_pieces_of_a_batch_share_its_memory() -> None:
    whole = batch(0, 100)
    last = list(cut_batches([whole], piece_bytes=8 * 40))[-1]
    assert last.batch.column("x").buffers()[1].address == whole.column("x").buffers()[1].address


def test_rows_that_a_node_has_are_left_out() -> None:
    pieces = list(cut_batches([batch(0, 50), batch(50, 50)], without=Ranges([(0, 10), (45, 60), (99, 100)])))
    assert numbers(pieces) == [*range(10, 45), *range(60, 99)]
    assert all(piece.batch.column("x")[0].as_py() == piece.start for piece in pieces)


def test_objects_of_any_kind_travel_in_pickled_pieces() -> None:
    rows: list[object] = [{"a": 1}, "text", (1, 2.5), None] * 20
    pieces = list(cut_rows(rows, piece_bytes=100))
    assert len(pieces) > 1
    assert [row for piece in pieces for row in unpack(piece.batch)] == rows
    assert sum(piece.rows for piece in pieces) == len(rows)
    assert all(is_pickled(piece.batch.schema) for piece in pieces)


def test_objects_that_a_node_has_are_left_out() -> None:
    pieces = list(cut_rows(range(100), without=Ranges([(0, 10), (45, 60)])))
    assert [row for piece in pieces for row in unpack(piece.batch)] == [*range(10, 45), *range(60, 100)]
    assert all(unpack(piece.batch)[0] == piece.start for piece in pieces)


def test_pickled_pieces_grow_to_their_size() -> None:
    sizes = [piece.batch.nbytes for piece in cut_rows([b"x" * 100] * 5_000, piece_bytes=50_000)]
    assert all(40_000 < size < 60_000 for size in sizes[1:-1])
    assert len(sizes) < 15


def test_a_row_that_is_bigger_than_a_piece_is_a_piece() -> None:
    big = pa.record_batch({"x": pa.array([b"x" * 1000] * 3)})
    assert [piece.rows for piece in cut_batches([big], piece_bytes=10)] == [1, 1, 1]


def test_a_class_of_the_main_program_is_known_where_it_arrives() -> None:
    scope: dict[str, object] = {"__name__": "__main__"}
    exec("class Thing:\n    def __init__(self): self.x = 1", scope)
    made = scope["Thing"]()  # type: ignore[operator]
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(made)
    assert unpack(pack([made]))[0].x == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("cut", [cut_rows, cut_batches])
def test_an_order_mixes_the_rows_of_each_piece(cut: Callable[..., Iterator[Piece]]) -> None:
    rows = range(100) if cut is cut_rows else [batch(0, 100)]
    orders = [
        Order(seed=1, epoch=0, partition=0),
        Order(seed=1, epoch=0, partition=0),
        Order(seed=1, epoch=1, partition=0),
    ]
    drawn = [
        [row for piece in cut(rows, order=order, piece_bytes=1000) for row in values(piece)]
        for order in orders
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert sorted(drawn[0]) == sorted(drawn[2]) == list(range(100)) != drawn[0]


def values(piece: Piece) -> list[object]:
    pickled = is_pickled(piece.batch.schema)
    return unpack(piece.batch) if pickled else piece.batch.column("x").to_pylist()


def test_a_piece_is_known_again_by_its_tag() -> None:
    sent = Piece(batch=batch(0, 3), start=1 << 40, rows=3)
    assert Piece.of(sent.batch, sent.tag) == sent
