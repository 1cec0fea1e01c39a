"""A peer that is killed is noticed at once, whatever it was in the middle of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from hopyard.errors import PeerGone
from hopyard.wire import BatchReader, Json, Service, WireClient, WireServer

from . import peer
from .conftest import Peer

pytestmark = pytest.mark.cluster


def assert_gone_at_once(exchange: Future[object], kill: Callable[[], None]) -> None:
    kill()
    start = time.monotonic()
    assert isinstance(exchange.exception(5), PeerGone)
    assert time.monotonic() - start < 1


def test_a_client_that_waits_for_an_answer_notices_the_death_of_its_server(
    start_peer: Callable[[str], Peer],
) -> None:
    server = start_peer("endless")
    with WireClient(server.endpoint(), timeout=60) as client, ThreadPoolExecutor() as pool:
        answer: Future[object] = pool.submit(client.call, "x", {})
        assert server.line() == "in call"
        assert_gone_at_once(answer, server.kill)


def test_a_client_that_pours_notices_the_death_of_its_server(start_peer: Callable[[str], Peer]) -> None:
    server = start_peer("endless")
    with WireClient(server.endpoint()) as client, ThreadPoolExecutor() as pool:
        reply: Future[object] = pool.submit(client.put, "x", peer.BATCH.schema, peer.endless())
        assert server.line() == "in receive"
        assert_gone_at_once(reply, server.kill)


def test_a_client_that_draws_notices_the_death_of_its_server(start_peer: Callable[[str], Peer]) -> None:
    server = start_peer("endless")
    with WireClient(server.endpoint()) as client, ThreadPoolExecutor() as pool:
        stream = iter(client.get("x"))
        next(stream)
        assert_gone_at_once(pool.submit(lambda: list(stream)), server.kill)


def test_a_server_that_receives_notices_the_death_of_its_client(start_peer: Callable[[str], Peer]) -> None:
    sink = Sink()
    client = start_peer("pour")
    with WireServer(sink, address="127.0.0.1") as server:
        client.tell(server.endpoint)
        assert sink.begun.wait(10)
        assert_gone_at_once(sink.received, client.kill)


class Sink(Service):
    def __init__(self) -> None:
        self.begun = threading.Event()
        self.received: Future[object] = Future()

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        try:
            for _ in batches:
                self.begun.set()
        except PeerGone as error:
            self.received.set_exception(error)
            raise
        self.received.set_result(None)
        return {}
