from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow
import pytest

from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.errors import (
    DriverOutOfReach,
    InvalidMessage,
    MessageTooLarge,
    NotAuthenticated,
    PeerGone,
    RemoteError,
    WireTimeout,
)
from hopyard.protocol.messages import Arrive, Left, Message, Noted
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.outcome_stream import from_batches
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import BatchReader, Json, Service, WireClient, WireServer
from hopyard.worker.driver_link import DriverAtHand, RemoteDriver, WireLink, deliver, within

pytestmark = pytest.mark.unit

KEY = b"the key of the run"
ARRIVAL = Arrive(number=0, incarnation="a", address="b:1", host="c")


def outcome(value: bytes | None = b"value") -> Outcome:
    record = NodeOutcome(rank=0, role="chief", host="here", state=NodeState.FINISHED, started=0.0, ended=1.0)
    return Outcome(record=record, value=value)


@dataclass(frozen=True)
class Driver:
    """A coordinator on the wire."""

    gang: Gang
    service: Coordinator
    server: WireServer

    @property
    def at_a_distance(self) -> RemoteDriver:
        return RemoteDriver(endpoint=self.server.endpoint, outcome_key=self.service.outcome_key)


@pytest.fixture
def driver() -> Iterator[Driver]:
    gang = Gang(Plan.of(1), Timeouts(), now=time.monotonic())
    service = Coordinator(gang)
    with WireServer(PoolWire(service), address="127.0.0.1") as server:
        yield Driver(gang, service, server)


# --- the ways to a driver --------------------------------------------------------------------------


def test_a_worker_asks_and_delivers_in_the_same_way_whether_or_not_its_driver_is_at_hand(
    driver: Driver,
) -> None:
    answers = []
    for way in (driver.at_a_distance, DriverAtHand(driver.service)):
        with way.open(call_seconds=5.0, patience=5.0) as link:
            answers.append(link.ask(ARRIVAL))
            link.deliver(0, "a", outcome())
            assert link.ask(Left(number=0, incarnation="a")) == Noted()
    assert answers[0].members is not None
    assert answers[0].members.by_role == {"chief": ("b:1",)}
    assert driver.gang.outcomes == {0: outcome()}
    assert driver.service.is_settled


def test_only_a_driver_at_a_distance_may_vanish(driver: Driver) -> None:
    assert driver.at_a_distance.is_remote
    assert not DriverAtHand(driver.service).is_remote


def test_the_key_for_outcomes_is_not_in_what_is_printed_of_a_driver(driver: Driver) -> None:
    assert "outcome_key" not in repr(driver.at_a_distance)
    assert repr(driver.service.outcome_key) not in repr(driver.at_a_distance)


def test_what_a_driver_answers_wrongly_is_told_with_the_message() -> None:
    with (
        WireServer(Silent(), address="127.0.0.1") as server,
        WireClient(server.endpoint) as client,
        pytest.raises(InvalidMessage, match=r"the answer to arrive.*the field 'again' is missing"),
    ):
        WireLink(client).ask(ARRIVAL)


class Silent(Service):
    """Answers everything with nothing."""

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        return {}


# --- the delivery of an outcome --------------------------------------------------------------------


class Flaky:
    """A link that is out of order at first."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.taken: list[tuple[int, str, Outcome]] = []
        self.tries = 0

    def ask(self, message: Message[object]) -> object:
        raise AssertionError(message)

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        self.taken.append((number, incarnation, outcome))


def test_an_outcome_is_delivered_again_while_the_driver_is_out_of_reach() -> None:
    link = Flaky(
        PeerGone("driver:1", "put", "connection refused"),
        WireTimeout("driver:1", "put", 5.0, "timeout"),
        NotAuthenticated("driver:1", "put"),
    )
    deliver(link, 3, "a", outcome(), as_long_as=within(30), retry_seconds=0.0)
    assert (link.taken, link.tries) == ([(3, "a", outcome())], 4)


def test_an_outcome_that_the_driver_does_not_take_is_not_delivered_again() -> None:
    link = Flaky(MessageTooLarge("put outcome", 2, 1))
    with pytest.raises(MessageTooLarge):
        deliver(link, 0, "a", outcome(), as_long_as=within(30), retry_seconds=0.0)
    assert link.tries == 1


def test_a_driver_that_is_gone_for_good_is_told_by_its_name_and_its_last_error() -> None:
    asked = iter([True, True, False])
    link = Flaky(PeerGone("driver:1", "put", "first"), PeerGone("driver:2", "put", "last"))
    with pytest.raises(DriverOutOfReach, match=r"driver:2.*last"):
        deliver(link, 0, "a", outcome(), as_long_as=lambda: next(asked), retry_seconds=0.0)
    assert link.tries == 2


def test_nothing_is_delivered_to_a_driver_that_is_known_to_be_gone() -> None:
    link = Flaky()
    with pytest.raises(DriverOutOfReach, match="silent for too long"):
        deliver(link, 0, "a", outcome(), as_long_as=lambda: False)
    assert link.tries == 0


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
    with WireServer(service, address="127.0.0.1") as server, WireClient(server.endpoint) as client:
        with pytest.raises(RemoteError, match="MemoryError: no room"):
            deliver(WireLink(client, KEY), 0, "a", outcome(), as_long_as=within(10))
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
    with WireClient(endpoint) as client:
        deliver(WireLink(client, KEY), 0, "a", outcome(), as_long_as=as_long_as, retry_seconds=0.05)
    assert from_batches(service.taken, "outcome/0/a", KEY) == outcome()
    later[0].close()


def test_a_driver_that_stays_away_is_told_with_its_address(driver: Driver) -> None:
    driver.server.close()
    with (
        WireClient(driver.server.endpoint) as client,
        pytest.raises(DriverOutOfReach, match=driver.server.endpoint.peer),
    ):
        deliver(WireLink(client, KEY), 0, "a", outcome(), as_long_as=within(0.2), retry_seconds=0.01)
