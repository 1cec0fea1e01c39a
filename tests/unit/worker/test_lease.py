"""A node's lease over a real wire: orders are heeded, and a driver that is gone ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TypeVar

import pytest

from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.errors import DriverOutOfReach, MessageTooLarge, PeerGone, WireTimeout
from hopyard.protocol.messages import Arrive, Beat, Message
from hopyard.protocol.node_status import Heartbeat, Phase
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import WireClient, WireServer
from hopyard.worker.driver_link import WireLink
from hopyard.worker.lease import LONGEST_TEXT, ORPHAN_SECONDS, Lease

pytestmark = pytest.mark.unit

RETRY_SECONDS = 0.05
A = TypeVar("A")


class Holder:
    """Records what it is told and has something to tell."""

    def __init__(self, sign: Heartbeat | None = None) -> None:
        self.reason = ""
        self.grace: float | None = None
        self.stopped = threading.Event()
        self.released = threading.Event()
        self._sign = sign or Heartbeat()
        self._told = threading.Semaphore(0)

    def stop(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.stopped.set()

    def release(self, grace_seconds: float) -> None:
        self.grace = grace_seconds
        self.released.set()

    def sign(self) -> Heartbeat:
        self._told.release()
        return self._sign

    def wait_for_an_answer(self) -> None:
        """Returns when the driver has heard what there is to tell, and has answered."""
        for _ in range(3):  # one may have been under way, one is heard, and one more is asked for
            assert self._told.acquire(timeout=10)


class Driver:
    """A coordinator on the wire, and leases with it."""

    def __init__(self, plan: Plan, timeouts: Timeouts = Timeouts(grace=3.0)) -> None:  # noqa: B008
        self.gang = Gang(plan, timeouts, now=time.monotonic())
        self.coordinator = Coordinator(self.gang)
        self.server = WireServer(PoolWire(self.coordinator), address="127.0.0.1")
        self.clients: list[WireClient] = []

    def link(self) -> WireLink:
        self.clients.append(WireClient(self.server.endpoint, timeout=5.0))
        return WireLink(self.clients[-1])

    def lease(self, rank: int, holder: Holder, seconds: float = 15.0, incarnation: str = "first") -> Lease:
        return Lease(
            self.link(),
            rank,
            incarnation=incarnation,
            seconds=seconds,
            holder=holder,
            retry_seconds=RETRY_SECONDS,
        )

    def joined(self, rank: int, holder: Holder, seconds: float = 15.0) -> Lease:
        """Returns the lease of the last node to arrive, which has the map."""
        lease = self.lease(rank, holder, seconds)
        assert lease.join(f"10.0.0.{rank}:80", "here") is not None
        return lease

    def arrive(self, *ranks: int) -> None:
        """Lets nodes arrive that are not looked at."""
        for rank in ranks:
            self.coordinator.ask(Arrive(number=rank, incarnation="first", address="a:1", host="here"))

    def close(self) -> None:
        self.server.close()
        for client in self.clients:
            client.close()


@pytest.fixture
def two() -> Iterator[Driver]:
    driver = Driver(Plan.of(2))
    yield driver
    driver.close()


@pytest.fixture
def alone() -> Iterator[Driver]:
    driver = Driver(Plan.of(1))
    yield driver
    driver.close()


def record(rank: int, state: NodeState, **more: str) -> NodeOutcome:
    return NodeOutcome(rank=rank, role="worker", host="here", state=state, started=0.0, ended=1.0, **more)  # type: ignore[arg-type]


def test_who_joins_waits_for_the_last_and_gets_the_map(two: Driver) -> None:
    found = []
    waiting = threading.Thread(target=lambda: found.append(two.lease(0, Holder()).join("a:1", "here")))
    waiting.start()
    last = two.lease(1, Holder()).join("b:2", "there")
    waiting.join(10)
    assert last is not None
    assert last.by_role == {"chief": ("a:1",), "worker": ("b:2",)}
    assert found == [last]


def test_a_stop_ends_the_waiting_for_the_others(two: Driver) -> None:
    holder = Holder()
    two.coordinator.stop("enough")
    assert two.lease(0, holder).join("a:1", "here") is None
    assert holder.reason == "enough"


def test_a_failure_of_one_node_reaches_the_other_within_seconds(two: Driver) -> None:
    holder = Holder()
    two.arrive(1)
    with two.joined(0, holder), two.lease(1, Holder()) as failing:
        failing.tell(record(1, NodeState.FAILED))
        assert holder.stopped.wait(5)
    assert holder.reason == "node 1 failed"


def test_an_end_in_peace_stops_nobody(two: Driver) -> None:
    holder = Holder()
    two.arrive(1)
    with two.joined(0, holder):
        two.lease(1, Holder()).tell(record(1, NodeState.FINISHED))
        holder.wait_for_an_answer()
    assert not holder.stopped.is_set()
    assert not holder.released.is_set()


def test_who_is_not_waited_for_is_released_with_its_grace() -> None:
    driver = Driver(Plan.of(2, evaluator=True))
    holder = Holder()
    driver.arrive(0)
    with driver.joined(1, holder):
        driver.lease(0, Holder()).tell(record(0, NodeState.FINISHED))
        assert holder.released.wait(5)
    assert (holder.grace, holder.reason) == (3.0, "")
    driver.close()


def test_the_driver_learns_what_a_node_has_to_tell(alone: Driver) -> None:
    sign = Heartbeat(step=3, metrics={"loss": float("nan"), "acc": 1.0}, notes={"tensorboard": "http://here"})
    holder = Holder(sign)
    with alone.joined(0, holder):
        holder.wait_for_an_answer()
    (status,) = alone.coordinator.status()
    assert (status.step, status.metrics["acc"], status.notes) == (3, 1.0, {"tensorboard": "http://here"})
    assert str(status.metrics["loss"]) == "nan"


def test_a_node_whose_driver_is_gone_ends_itself_when_its_lease_runs_out(alone: Driver) -> None:
    holder = Holder()
    with alone.joined(0, holder, seconds=0.2) as held:
        alone.server.close()
        assert holder.stopped.wait(10)
        assert holder.reason.startswith("its driver has been out of reach for")
        held.tell(record(0, NodeState.FAILED))  # nobody hears it, and nobody is harmed


def test_an_orphan_does_not_wait_for_the_end_of_its_lease() -> None:
    now = [0.0]
    orphaned = [False]
    lease = Lease(
        FlakyDriver(Plan.of(1), Beat),
        0,
        incarnation="first",
        seconds=30.0,
        holder=Holder(),
        is_orphan=lambda: orphaned[0],
        clock=lambda: now[0],
    )
    now[0] = ORPHAN_SECONDS + 0.1
    assert lease.holds
    orphaned[0] = True
    assert not lease.holds


def test_an_orphan_whose_driver_answers_goes_on(alone: Driver) -> None:
    holder = Holder()
    lease = Lease(alone.link(), 0, incarnation="first", seconds=0.0, holder=holder, is_orphan=lambda: True)
    assert lease.join("a:1", "here") is not None
    with lease:
        holder.wait_for_an_answer()
    assert not holder.stopped.is_set()


def test_an_orphan_that_ends_itself_says_why(alone: Driver) -> None:
    holder = Holder()
    lease = Lease(
        alone.link(),
        0,
        incarnation="first",
        seconds=0.2,
        holder=holder,
        retry_seconds=RETRY_SECONDS,
        is_orphan=lambda: True,
    )
    lease.join("a:1", "here")
    with lease:
        alone.server.close()
        assert holder.stopped.wait(10)
    assert holder.reason.endswith("s (its executor is gone, too)")


def test_a_node_whose_driver_goes_while_it_waits_for_the_others_ends_itself(two: Driver) -> None:
    holder = Holder()
    lease = two.lease(0, holder, seconds=0.2)
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(lease.join("a:1", "here")))
    waiting.start()
    while not two.gang.present:
        time.sleep(0.005)
    two.server.close()
    waiting.join(10)
    assert found == [None]
    assert holder.reason.startswith("its driver has been out of reach for")


def test_a_driver_that_was_never_in_reach_is_an_error_at_once(alone: Driver) -> None:
    alone.server.close()
    with pytest.raises(DriverOutOfReach, match=r"127\.0\.0\.1:\d+ .*set HOPYARD_NETWORK"):
        alone.lease(0, Holder()).join("a:1", "here")


def test_a_driver_that_comes_back_in_time_is_forgiven() -> None:
    driver = FlakyDriver(Plan.of(1), Beat, PeerGone("driver", "call", "gone"))
    holder = Holder()
    lease = Lease(driver, 0, incarnation="first", seconds=60.0, holder=holder, retry_seconds=RETRY_SECONDS)
    assert lease.join("a:1", "here") is not None
    with lease:
        assert driver.heard_again.wait(10)
    assert not holder.stopped.is_set()


def test_a_node_that_can_not_be_renewed_for_another_reason_is_stopped_and_told_why() -> None:
    driver = FlakyDriver(Plan.of(1), Beat, MessageTooLarge("call beat", 2, 1))
    holder = Holder()
    lease = Lease(driver, 0, incarnation="first", seconds=60.0, holder=holder)
    lease.join("a:1", "here")
    with lease:
        assert holder.stopped.wait(10)
    assert holder.reason.startswith("its lease could not be renewed (MessageTooLarge: ")


def test_a_driver_that_is_slow_to_answer_for_the_first_time_is_not_out_of_reach() -> None:
    slow = WireTimeout("driver", "call arrive", 5.0, "timeout")
    driver = FlakyDriver(Plan.of(1), Arrive, slow, slow)
    assert (
        Lease(driver, 0, incarnation="first", seconds=60.0, holder=Holder()).join("a:1", "here") is not None
    )


def test_a_driver_that_stays_slow_for_longer_than_the_lease_is_out_of_reach() -> None:
    slow = WireTimeout("driver", "call arrive", 5.0, "timeout")
    driver = FlakyDriver(Plan.of(1), Arrive, slow, slow)
    lease = Lease(
        driver, 0, incarnation="first", seconds=30.0, holder=Holder(), clock=iter([0, 20, 40]).__next__
    )
    with pytest.raises(DriverOutOfReach, match="did not finish within 5 s"):
        lease.join("a:1", "here")


def test_an_endless_traceback_is_told_in_part(alone: Driver) -> None:
    lease = alone.joined(0, Holder())
    lease.tell(record(0, NodeState.FAILED, message="m" * 3_000_000, traceback="t" * 3_000_000 + "end"))
    told = alone.gang.records[0]
    assert (told.message, (told.traceback or "")[-4:]) == ("m" * LONGEST_TEXT, "tend")


def test_a_second_life_is_sent_away_and_its_end_is_not_taken_for_that_of_the_first(two: Driver) -> None:
    two.arrive(0, 1)
    two.lease(1, Holder()).tell(record(1, NodeState.FINISHED))
    holder = Holder()
    second = two.lease(1, holder, incarnation="second")
    assert second.join("c:3", "there") is None
    assert holder.reason.startswith("node 1 had been started before")
    second.tell(record(1, NodeState.KILLED))
    assert two.coordinator.status()[1].phase is Phase.FINISHED


class FlakyDriver:
    """A coordinator that does not answer the first messages of a kind."""

    def __init__(self, plan: Plan, kind: type[Message[object]], *errors: Exception) -> None:
        self._coordinator = Coordinator(Gang(plan, Timeouts(), now=time.monotonic()))
        self._kind = kind
        self._errors = list(errors)
        self.heard_again = threading.Event()

    def ask(self, message: Message[A]) -> A:
        if isinstance(message, self._kind) and self._errors:
            raise self._errors.pop(0)
        if isinstance(message, Beat):
            self.heard_again.set()
        return self._coordinator.ask(message)

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        self._coordinator.deliver(number, incarnation, outcome)
