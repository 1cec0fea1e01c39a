from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.errors import ForgedOutcome, InvalidMessage, RemoteError, UnknownMethod
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.outcome_stream import CHUNK_BYTES, from_batches, sender_of, to_batches
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import WireClient, WireServer
from hopyard.worker.driver_link import WireLink

pytestmark = pytest.mark.unit

KEY = b"the key of the run"


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
    key: bytes
    server: WireServer


@pytest.fixture
def driver() -> Iterator[Driver]:
    gang = Gang(Plan.of(1), Timeouts(), now=time.monotonic())
    service = Coordinator(gang)
    with WireServer(PoolWire(service), address="127.0.0.1") as server:
        yield Driver(gang, service.outcome_key, server)


@pytest.mark.parametrize("size", [None, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 1])
def test_an_outcome_is_the_same_after_its_way(size: int | None) -> None:
    sent = outcome(None if size is None else bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    assert from_batches(to_batches(sent, "outcome/0/a", KEY), "outcome/0/a", KEY) == sent


def test_batches_stay_small_whatever_the_size_of_the_value() -> None:
    sizes = [batch.nbytes for batch in to_batches(outcome(bytes(5 * CHUNK_BYTES)), "outcome/0/a", KEY)]
    assert len(sizes) == 7
    assert max(sizes) < 1.1 * CHUNK_BYTES


def test_a_stream_without_a_record_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="without a record"):
        from_batches([], "outcome/0/a", KEY)


@pytest.mark.parametrize("name", ["", "train", "outcome/1", "outcome/x/life", "other/1/life"])
def test_other_streams_are_unknown(name: str) -> None:
    assert sender_of("outcome/12/life") == (12, "life")
    with pytest.raises(UnknownMethod):
        sender_of(name)


class Trap:
    """What makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("forge", [lambda _: b"", lambda _: b"another key", lambda key: key[:-1]])
def test_an_outcome_that_somebody_forged_who_has_the_token_is_refused_and_not_unpickled(
    driver: Driver, forge: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    forged = outcome(pickle.dumps(Trap(tmp_path / "trap")))
    with (
        WireClient(driver.server.endpoint) as link,
        pytest.raises(RemoteError, match="does not have the mark of this run"),
    ):
        WireLink(link, forge(driver.key)).deliver(0, "a", forged)
    assert driver.gang.outcomes == {}
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize("stream", ["outcome/1/a", "outcome/0/b"])
def test_the_outcome_of_one_node_is_not_that_of_another(stream: str) -> None:
    batches = list(to_batches(outcome(), "outcome/0/a", KEY))
    assert from_batches(batches, "outcome/0/a", KEY) == outcome()
    with pytest.raises(ForgedOutcome):
        from_batches(batches, stream, KEY)


@pytest.mark.parametrize("part", [0, 1, 2, 3])
def test_an_outcome_that_was_changed_or_cut_on_its_way_is_refused(part: int) -> None:
    batches = list(to_batches(outcome(bytes(CHUNK_BYTES + 1)), "outcome/0/a", KEY))
    assert len(batches) == 4
    with pytest.raises((ForgedOutcome, InvalidMessage)):
        from_batches([*batches[:part], *batches[part + 1 :]], "outcome/0/a", KEY)


def test_a_driver_that_has_no_key_takes_no_outcome() -> None:
    with pytest.raises(ForgedOutcome):
        from_batches(to_batches(outcome(), "outcome/0/a", b""), "outcome/0/a", b"")


def test_a_driver_gets_the_whole_outcome_over_the_wire(driver: Driver) -> None:
    sent = outcome(bytes(2 * CHUNK_BYTES))
    with WireClient(driver.server.endpoint) as link:
        WireLink(link, driver.key).deliver(0, "a", sent)
    assert driver.gang.outcomes == {0: sent}
    assert driver.gang.records == {0: sent.record}
