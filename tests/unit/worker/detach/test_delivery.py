from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow
import pytest

from hopyard.control.coordinator import Coordinator
from hopyard.control.driver_wire import CoordinatorService
from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import DriverOutOfReach, InvalidMessage, RemoteError, UnknownMethod
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import BatchReader, Json, Service, WireClient, WireServer
from hopyard.worker.detach.delivery import (
    CHUNK_BYTES,
    OutcomeSender,
    from_batches,
    sender_of,
    to_batches,
    within,
)

pytestmark = pytest.mark.unit


def outcome(value: bytes | None = b"value", rank: int = 0) -> Outcome:
    record = NodeOutcome(
        rank=rank,
        role="chief",
        host="here",
        state=NodeState.FINISHED,
        started=0.0,
        ended=1.0,
        tail=("a", "b"),
        traceback="t" * 100_000,
    )
    return Outcome(record=record, value=value)


@dataclass(frozen=True)
class Driver:
    """A coordinator on the wire."""

    gang: Gang
    server: WireServer


@pytest.fixture
def driver() -> Iterator[Driver]:
    gang = Gang(Plan.of(1), Timeouts(), now=time.monotonic())
    service = CoordinatorService(Coordinator(gang))
    with WireServer(service, address="127.0.0.1") as server:
        yield Driver(gang, server)


@pytest.mark.parametrize("size", [None, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 1])
def test_an_outcome_is_the_same_after_its_way(size: int | None) -> None:
    sent = outcome(None if size is None else bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    assert from_batches(to_batches(sent), "here") == sent


def test_batches_stay_small_whatever_the_size_of_the_value() -> None:
    sizes = [batch.nbytes for batch in to_batches(outcome(bytes(5 * CHUNK_BYTES)))]
    assert len(sizes) == 6
    assert max(sizes) < 1.1 * CHUNK_BYTES


def test_a_stream_without_a_record_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="without a record"):
        from_batches([], "here")


@pytest.mark.parametrize("name", ["", "train", "outcome/1", "outcome/x/life", "other/1/life"])
def test_other_streams_are_unknown(name: str) -> None:
    assert sender_of("outcome/12/life") == (12, "life")
    with pytest.raises(UnknownMethod):
        sender_of(name)


def test_a_driver_gets_the_whole_outcome_over_the_wire(driver: Driver) -> None:
    sent = outcome(bytes(2 * CHUNK_BYTES))
    with WireClient(driver.server.endpoint) as link:
        OutcomeSender(link, 0, incarnation="a").deliver(sent, as_long_as=within(10))
    assert driver.gang.outcomes == {0: sent}
    assert driver.gang.records == {0: sent.record}


class LostOnce(Service):
    """Breaks down with the first stream, as a connection does, and takes the second."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.taken: list[pyarrow.RecordBatch] = []

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        if self.errors:
            raise self.errors.pop()
        self.taken = list(batches)
        return {}


def test_what_the_driver_refuses_is_not_sent_again() -> None:
    service = LostOnce(MemoryError("no room"))
    with WireServer(service, address="127.0.0.1") as server, WireClient(server.endpoint) as link:
        courier = OutcomeSender(link, 0, incarnation="a")
        with pytest.raises(RemoteError, match="MemoryError: no room"):
            courier.deliver(outcome(), as_long_as=within(10))
        assert service.taken == []


def test_a_driver_that_is_away_for_a_moment_gets_it_later(driver: Driver) -> None:
    endpoint = driver.server.endpoint
    driver.server.close()
    service = LostOnce()
    later: list[WireServer] = []

    def as_long_as() -> bool:
        """Lets the driver come back after the first failure."""
        if asked and not later:
            later.append(WireServer(service, address="127.0.0.1", port=endpoint.port, token=endpoint.token))
        asked.append(True)
        return len(asked) < 100

    asked: list[bool] = []
    with WireClient(endpoint) as link:
        OutcomeSender(link, 0, incarnation="a", retry_seconds=0.05).deliver(outcome(), as_long_as=as_long_as)
    assert from_batches(service.taken, "here") == outcome()
    later[0].close()


def test_a_driver_that_stays_away_is_told_with_its_address(driver: Driver) -> None:
    driver.server.close()
    with WireClient(driver.server.endpoint) as link:
        courier = OutcomeSender(link, 0, incarnation="a", retry_seconds=0.01)
        with pytest.raises(DriverOutOfReach, match=driver.server.endpoint.peer):
            courier.deliver(outcome(), as_long_as=within(0.2))
