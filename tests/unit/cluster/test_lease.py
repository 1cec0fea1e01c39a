"""A node's lease over a real wire: orders are heeded, and a driver that is gone ends it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from hopyard import Project
from hopyard.cluster.coordinator import Coordinator, driver_address
from hopyard.cluster.lease import WireLease
from hopyard.cluster.node import NodeTask
from hopyard.cluster.plan import Plan
from hopyard.errors import PeerGone
from hopyard.tracking import NodeState, RunId
from hopyard.wire import Endpoint, WireServer

pytestmark = pytest.mark.unit


class Order:
    """Records the order to stop and tells when it came."""

    def __init__(self) -> None:
        self.reason = ""
        self.came = threading.Event()

    def __call__(self, reason: str) -> None:
        self.reason = reason
        self.came.set()


def lease(endpoint: Endpoint, rank: int, order: Order, seconds: float = 15.0) -> WireLease:
    return WireLease(endpoint, rank, seconds=seconds, stop=order)


def record(rank: int, state: NodeState) -> object:
    task = NodeTask(
        node=Plan.of(rank + 1).nodes[rank],
        size=rank + 1,
        run_id=RunId("app", "launcher", 1),
        project=Project.open(),
        payload=b"",
    )
    return replace(task.finished(time.time()), state=state)


def test_a_failure_of_one_node_reaches_the_other_within_seconds() -> None:
    order = Order()
    with (
        WireServer(Coordinator(2), address="127.0.0.1") as server,
        lease(server.endpoint, 0, order),
        lease(server.endpoint, 1, Order()) as failing,
    ):
        failing.tell(record(1, NodeState.FAILED))
        assert order.came.wait(5)
    assert order.reason == "node 1 failed"


def test_an_end_in_peace_stops_nobody() -> None:
    order = Order()
    with WireServer(Coordinator(2), address="127.0.0.1") as server, lease(server.endpoint, 0, order) as other:
        with lease(server.endpoint, 1, Order()) as ending:
            ending.tell(record(1, NodeState.FINISHED))
        other.beat()
        assert not order.came.is_set()


def test_a_node_whose_driver_is_gone_ends_itself_when_its_lease_runs_out() -> None:
    order = Order()
    server = WireServer(Coordinator(1), address="127.0.0.1")
    with lease(server.endpoint, 0, order, seconds=0.5) as held:
        server.close()
        assert order.came.wait(10)
        assert order.reason.startswith("its driver has been out of reach for")
        held.tell(record(0, NodeState.FAILED))  # nobody hears it, and nobody is harmed


def test_a_driver_that_was_never_in_reach_is_an_error_at_once() -> None:
    server = WireServer(Coordinator(1), address="127.0.0.1")
    server.close()
    with pytest.raises(PeerGone), lease(server.endpoint, 0, Order()):
        pass


def test_the_driver_is_reached_where_spark_says_or_where_the_setting_says() -> None:
    assert driver_address("127.0.0.1", environ={}) == "127.0.0.1"
    assert driver_address("localhost", environ={}) == "127.0.0.1"
    assert driver_address("192.0.2.77", environ={"HOPYARD_NETWORK": "lo"}) == "127.0.0.1"


def test_a_driver_host_that_is_not_this_machine_is_told_with_the_address_used_instead(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert driver_address("no.such.host.invalid", environ={"SPARK_LOCAL_IP": "127.0.0.1"}) == "127.0.0.1"
    assert "nodes are told to call 127.0.0.1: set HOPYARD_NETWORK" in caplog.text
