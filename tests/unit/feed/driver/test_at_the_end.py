"""What a user is told of the feed when a run has ended well."""

from __future__ import annotations

import json

import pytest

from hopyard.feed.driver.at_the_end import warnings_of
from hopyard.feed.state import NANS, VALIDATION_UNREAD
from hopyard.protocol.node_status import NodeStatus, Phase

pytestmark = pytest.mark.unit


def node(rank: int, **notes: str) -> NodeStatus:
    return NodeStatus(rank=rank, role="worker", phase=Phase.FINISHED, notes=notes)


def test_nodes_that_have_told_nothing_are_not_spoken_of() -> None:
    assert not list(warnings_of([]))
    assert not list(warnings_of([node(0), node(1)]))


def test_rows_to_validate_with_are_unread_only_if_no_node_has_read_them() -> None:
    unread = {VALIDATION_UNREAD: ""}
    assert not list(warnings_of([node(0), node(1, **unread)]))
    (told,) = warnings_of([node(0, **unread), node(1, **unread)])
    assert told.startswith("no node has read the rows to validate with")
    assert 'ctx.feed("validation")' in told


def test_nulls_that_were_read_as_nan_are_counted_by_column_over_all_nodes() -> None:
    nodes = [
        node(0, **{NANS: json.dumps({"price": 2})}),
        node(1, **{NANS: json.dumps({"price": 1, "age": 4})}),
    ]
    (told,) = warnings_of(nodes)
    assert "(column 'price': 3, column 'age': 4)" in told
    assert "fill_nulls={'price': 0.0}" in told
