"""The driver's view of epochs that nodes read again."""

from __future__ import annotations

import socket

import pytest

from hopyard.feed.driver.replay_job import ReplayJob
from hopyard.feed.remote import FeedNode
from hopyard.feed.state import STATE, FeedState
from hopyard.wire import Endpoint

pytestmark = pytest.mark.unit


def test_the_rows_of_a_node_that_has_returned_are_those_that_it_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    gone = FeedNode(rank=3, host="a", endpoint=Endpoint(host="127.0.0.1", port=port, token="t"))
    job = ReplayJob([gone], range(1, 3), None)
    job.start()
    assert job.wait(0)
    assert job.rows(1) is None
    job.hear(3, 2, 992)
    assert (job.rows(1), job.rows(2), job.finished()) == ({3: 992}, {3: 992}, [3])


def test_a_note_tells_which_epochs_a_node_has_read_again() -> None:
    state = FeedState(received=5, replayed=(1, 2, 992))
    assert FeedState.of({STATE: state.to_note()}) == state
