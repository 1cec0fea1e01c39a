"""A pool's service on a real wire; what is malformed does not reach it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.control.queue import Queue, StudyRules
from hopyard.errors import InvalidMessage, RemoteError, UnknownMethod
from hopyard.protocol.messages import METHODS, Answer, Arrive, Message, Reply
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.outcome_stream import stream_name, to_batches
from hopyard.protocol.plan import Plan
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import Json, WireClient, WireServer
from hopyard.worker.driver_link import WireLink

pytestmark = pytest.mark.unit

ARRIVAL: dict[str, Json] = {"number": 0, "incarnation": "a", "address": "b:1", "host": "c"}
HEARTBEAT: dict[str, Json] = {"step": 1, "metrics": {}, "idle_seconds": 0.0, "lines": [], "notes": {}}


class Heard(Coordinator):
    """A coordinator of one node that keeps what reaches it."""

    def __init__(self, nodes: int = 1) -> None:
        self.gang = Gang(Plan.of(nodes), Timeouts(), now=0.0)
        super().__init__(self.gang, clock=lambda: 0.0)
        self.messages: list[Message[Any]] = []

    def answer(self, message: Message[Any]) -> Answer:
        self.messages.append(message)
        return super().answer(message)


@dataclass(frozen=True)
class Pool:
    """A service on the wire."""

    service: Heard
    server: WireServer


@pytest.fixture
def pool() -> Iterator[Pool]:
    service = Heard()
    with WireServer(PoolWire(service), address="127.0.0.1") as server:
        yield Pool(service, server)


@pytest.fixture
def client(pool: Pool) -> Iterator[WireClient]:
    with WireClient(pool.server.endpoint) as made:
        yield made


def test_a_service_answers_over_the_wire_and_tells_what_is_wrong_with_a_message(
    pool: Pool, client: WireClient
) -> None:
    answer = client.call("arrive", ARRIVAL)
    assert answer["members"] == {"by_role": {"chief": ["b:1"]}}
    assert pool.service.messages == [Arrive(number=0, incarnation="a", address="b:1", host="c")]
    with pytest.raises(RemoteError, match="rank 7 is none of the 1 nodes"):
        client.call("arrive", {**ARRIVAL, "number": 7})


def test_a_link_gives_answers_as_they_were_at_the_service(client: WireClient) -> None:
    answer = WireLink(client).ask(Arrive(number=0, incarnation="a", address="b:1", host="c"))
    assert isinstance(answer, Reply)
    assert answer.members is not None
    assert answer.members.by_role == {"chief": ("b:1",)}


@pytest.mark.parametrize(
    ("method", "message", "field"),
    [
        ("arrive", {**ARRIVAL, "number": None}, "number"),
        ("arrive", {**ARRIVAL, "number": "0"}, "number"),
        ("arrive", {**ARRIVAL, "number": 1.0}, "number"),
        ("arrive", {**ARRIVAL, "number": True}, "number"),
        ("arrive", {name: value for name, value in ARRIVAL.items() if name != "host"}, "host"),
        ("beat", {"number": 0, "incarnation": "a"}, "heartbeat"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": []}, "heartbeat"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"metrics": []}}, "metrics"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"metrics": {"loss": "x"}}}, "metrics"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"lines": "x"}}, "lines"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"lines": [1]}}, "lines"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"idle_seconds": None}}, "idle_seconds"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"notes": 1}}, "notes"),
        ("beat", {"number": 0, "incarnation": "a", "heartbeat": {"notes": {"tensorboard": 1}}}, "notes"),
        ("ended", {"number": 0, "incarnation": "a", "record": {}, "heartbeat": HEARTBEAT}, "record"),
        ("ended", {"number": 0, "incarnation": "a", "record": "{}", "heartbeat": HEARTBEAT}, "record"),
        ("left", {"number": 0}, "incarnation"),
        ("ask", {"number": 0, "incarnation": "a", "host": "h", "ended": {"number": 0}}, "ended"),
        ("report", {"number": 0, "incarnation": "a", "trial": 1, "points": [[1]]}, "points"),
        ("report", {"number": 0, "incarnation": "a", "trial": 1, "points": [[1, {"x": "y"}]]}, "points"),
        ("report", {"number": 0, "incarnation": "a", "trial": 1, "points": [["1", {}]]}, "points"),
    ],
)
def test_a_message_that_is_malformed_is_refused_with_its_field_and_does_not_reach_the_service(
    pool: Pool, method: str, message: Mapping[str, Json], field: str
) -> None:
    with pytest.raises(InvalidMessage, match=rf"call {method}.*the field '{field}'"):
        PoolWire(pool.service).call(method, message)
    assert pool.service.messages == []


def test_who_sends_a_malformed_message_is_told_and_may_send_another_one(
    pool: Pool, client: WireClient
) -> None:
    with pytest.raises(InvalidMessage, match="the field 'number'"):
        client.call("arrive", {**ARRIVAL, "number": "0"})
    client.call("arrive", ARRIVAL)
    assert len(pool.service.messages) == 1


def test_an_end_that_can_not_be_read_leaves_the_node_running(pool: Pool, client: WireClient) -> None:
    client.call("arrive", ARRIVAL)
    with pytest.raises(InvalidMessage, match="the field 'record'"):
        client.call("ended", {"number": 0, "incarnation": "a", "record": {}, "heartbeat": HEARTBEAT})
    assert pool.service.gang.present == 1


def test_a_method_that_there_is_none_of_is_refused_and_does_not_reach_the_service(pool: Pool) -> None:
    with pytest.raises(UnknownMethod, match="dance"):
        PoolWire(pool.service).call("dance", ARRIVAL)
    assert pool.service.messages == []


def test_a_message_for_another_kind_of_pool_is_refused(client: WireClient) -> None:
    with pytest.raises(UnknownMethod, match="AskTrial"):
        client.call("ask", {"number": 0, "incarnation": "a", "host": "h"})


def test_fields_that_a_message_does_not_know_are_let_go(pool: Pool, client: WireClient) -> None:
    client.call("arrive", {**ARRIVAL, "from": "the future"})
    assert pool.service.messages == [Arrive(number=0, incarnation="a", address="b:1", host="c")]


def test_each_message_has_a_name_of_its_own() -> None:
    assert len({method.name for method in METHODS}) == len({method.message for method in METHODS})


# --- outcomes --------------------------------------------------------------------------------------


def outcome() -> Outcome:
    record = NodeOutcome(rank=0, role="chief", host="here", state=NodeState.FINISHED, started=0.0, ended=1.0)
    return Outcome(record=record, value=b"value")


def test_an_outcome_with_the_mark_of_the_pool_reaches_the_service(pool: Pool, client: WireClient) -> None:
    WireLink(client, pool.service.outcome_key).deliver(0, "a", outcome())
    assert pool.service.gang.outcomes == {0: outcome()}


@pytest.mark.parametrize("key", [b"", b"of another pool"])
def test_an_outcome_with_a_wrong_mark_is_refused(pool: Pool, client: WireClient, key: bytes) -> None:
    with pytest.raises(RemoteError, match="does not have the mark of this run"):
        WireLink(client, key).deliver(0, "a", outcome())
    assert pool.service.gang.outcomes == {}
    assert pool.service.gang.records == {}


def test_the_mark_of_one_node_is_none_for_another(pool: Pool, client: WireClient) -> None:
    key = pool.service.outcome_key
    marked = list(to_batches(outcome(), stream_name(0, "a"), key))
    with pytest.raises(RemoteError, match="does not have the mark of this run"):
        client.put(stream_name(0, "b"), marked[0].schema, marked)
    assert pool.service.gang.outcomes == {}


def test_each_pool_has_a_mark_of_its_own() -> None:
    assert Heard().outcome_key != Heard().outcome_key


class NoTrials:
    """A study without trials."""

    def ask(self) -> None:
        return None

    def report(self, number: int, points: object) -> bool:
        raise AssertionError(number)

    def tell(self, record: object) -> None:
        raise AssertionError(record)


def test_a_study_takes_no_outcomes() -> None:
    study = TrialScheduler(Queue(StudyRules()), NoTrials(), commit=lambda: None)
    with (
        WireServer(PoolWire(study), address="127.0.0.1") as server,
        WireClient(server.endpoint) as client,
        pytest.raises(UnknownMethod, match="outcome"),
    ):
        WireLink(client, study.outcome_key).deliver(0, "a", outcome())
    assert study.error is None
