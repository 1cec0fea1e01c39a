from __future__ import annotations

from dataclasses import replace

import pytest

from hopyard.cli.output.columns import Column, Cut, cut, fitted, shortened

pytestmark = pytest.mark.unit
COLUMNS = (
    Column(name="RUN", cut=Cut.START, least=8),
    Column(name="STARTED", is_optional=True),
    Column(name="LAST", cut=Cut.END, least=6),
)
ROWS = [("application/run.1", "2026-11-18", "the error is long")]


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (80, ["application/run.1", "2026-11-18", "the error is long"]),
        (45, ["application/run.1", "2026-11-18", "the error is …"]),
        (30, ["…ion/run.1", "2026-11-18", "the e…"]),
        (27, ["application/run.1", "the err…"]),
        (16, ["…n/run.1", "the e…"]),
    ],
)
def test_cells_are_cut_and_columns_left_out_until_there_is_room(width: int, row: list[str]) -> None:
    shown = fitted(COLUMNS, ROWS, width)
    assert shown is not None
    assert shown[1] == [row]
    assert [column.name for column in shown[0]] == [
        c.name for c in COLUMNS if len(row) == 3 or c.name != "STARTED"
    ]


def test_there_is_no_table_where_nothing_helps() -> None:
    assert fitted(COLUMNS, ROWS, 15) is None


def test_a_table_without_rows_has_its_headings() -> None:
    assert fitted(COLUMNS, [], 80) == (list(COLUMNS), [])


def test_a_column_that_must_be_whole_is_not_cut() -> None:
    assert cut("FINISHED", 3, Cut.NOWHERE) == "FINISHED"


def test_a_column_that_is_first_gets_the_room() -> None:
    columns = [replace(COLUMNS[0]), replace(COLUMNS[2], is_first=True)]
    shown = fitted(columns, [("application/run.1", "the error is long")], 29)
    assert shown is not None
    assert shown[1] == [["…ion/run.1", "the error is long"]]


def test_ids_are_shortened_as_long_as_they_differ() -> None:
    column = Column(name="RUN", cut=Cut.START, least=4)
    assert shortened(column, ["app-1/run.1", "app-1/run.2"]).least == 4
    assert shortened(column, ["app-1/run.1", "app-2/run.1"]).least == 8
    assert shortened(column, ["1/run.1", "2/run.1"]).least == 7
    assert shortened(column, []).least == 0


def test_of_optional_columns_the_widest_goes_first() -> None:
    columns = [Column(name="A"), Column(name="B", is_optional=True), Column(name="CCC", is_optional=True)]
    shown = fitted(columns, [("a", "b", "c")], 8)
    assert shown is not None
    assert [column.name for column in shown[0]] == ["A", "B"]


def test_optional_columns_go_one_after_the_other_from_the_left() -> None:
    columns = [Column(name="A"), Column(name="B", is_optional=True), Column(name="C", is_optional=True)]
    for width, names in ((7, "ABC"), (6, "AC"), (3, "A")):
        shown = fitted(columns, [("a", "b", "c")], width)
        assert shown is not None
        assert "".join(column.name for column in shown[0]) == names


PEERS = (
    Column(name="WHAT"),
    Column(name="A", cut=Cut.END, least=4, is_peer=True),
    Column(name="B", cut=Cut.END, least=4, is_peer=True),
)


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (60, ["error", "it broke at once", "and so did the other"]),
        (43, ["error", "it broke at once", "and so did the ot…"]),
        (29, ["error", "it broke …", "and so di…"]),
        (17, ["error", "it …", "and…"]),
    ],
)
def test_peers_are_cut_alike(width: int, row: list[str]) -> None:
    shown = fitted(PEERS, [("error", "it broke at once", "and so did the other")], width)
    assert shown is not None
    assert shown[1] == [row]


def test_a_peer_that_needs_less_leaves_its_room_to_the_others() -> None:
    shown = fitted(PEERS, [("error", "none", "and so did the other")], 26)
    assert shown is not None
    assert shown[1] == [["error", "none", "and so did t…"]]
