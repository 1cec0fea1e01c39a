from __future__ import annotations

import os
import time
from collections.abc import Iterator

import cloudpickle
import pytest

from hopyard import Project
from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.protocol.node_status import Phase
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeState, RunId
from hopyard.wire import WireServer
from hopyard.worker.driver_link import DriverAtHand, RemoteDriver
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.node_work import DetachedNodeWork, NodeWork, task_of
from hopyard.worker.task import NodeTask
from hopyard.worker.work import Host, Member

pytestmark = pytest.mark.unit


class Pool:
    """A run of one node, and its driver on the wire."""

    def __init__(self) -> None:
        self.gang = Gang(Plan.of(1), Timeouts(), now=time.monotonic())
        self.service = Coordinator(self.gang)
        self.server = WireServer(PoolWire(self.service), address="127.0.0.1")

    @property
    def remote(self) -> RemoteDriver:
        return RemoteDriver(endpoint=self.server.endpoint, outcome_key=self.service.outcome_key)

    def value(self) -> object:
        assert self.service.is_settled
        assert self.gang.is_done
        return self.gang.outcomes[0].result()


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.server.close()


def task(function: object = os.getpid, plan: Plan | None = None) -> NodeTask:
    plan = plan or Plan.of(1)
    return NodeTask(
        node=plan.nodes[0],
        plan=plan,
        run_id=RunId("app", "launcher", 1),
        project=Project.open(),
        payload=cloudpickle.dumps(function),
    )


def cards() -> str:
    return os.environ["CUDA_VISIBLE_DEVICES"]


def fail() -> None:
    raise ValueError("no luck")


def test_a_node_beside_its_driver_brings_its_value(pool: Pool) -> None:
    NodeWork(task=task()).run(Member(number=0), DriverAtHand(pool.service), Host())
    assert pool.value() != os.getpid()


def test_a_node_on_another_machine_brings_its_value_over_the_wire(pool: Pool) -> None:
    host = Host(address="127.0.0.2", gpus=("3",))
    NodeWork(task=task(cards)).run(Member(number=0), pool.remote, host)
    assert pool.value() == "3"
    assert pool.service.status()[0].address.startswith("127.0.0.2:")


def test_a_node_fails_and_nothing_is_raised_for_spark_to_try_again(pool: Pool) -> None:
    NodeWork(task=task(fail)).run(Member(number=0), pool.remote, Host())
    assert pool.service.is_settled
    assert pool.gang.outcomes[0].record.state is NodeState.FAILED


def test_a_supervisor_that_does_not_leave_is_told_to_the_driver(pool: Pool) -> None:
    work = DetachedNodeWork(task=task(), seconds=0.0)
    work.run(Member(number=0), pool.remote, Host())
    assert pool.service.is_settled
    record = pool.gang.outcomes[0].record
    assert record.state is NodeState.FAILED
    assert str(record.message).startswith("its supervisor did not start: ")
    assert pool.service.status()[0].phase is Phase.FAILED


def test_each_member_is_the_node_of_its_rank_with_its_own_devices() -> None:
    plan, devices = Plan.of(3, ps=1), DeviceRequest(gpus=2)
    node = task_of(task(plan=plan), Member(number=2, devices=devices))
    assert (node.node, node.devices) == (plan.nodes[2], devices)
    assert node.run_id == task().run_id


@pytest.mark.parametrize(("ranks", "words"), [([1], "node 1"), ([0, 2, 3], "nodes 0, 2 and 3")])
def test_spark_shows_the_run_and_its_nodes(ranks: list[int], words: str) -> None:
    for work in (NodeWork(task=task()), DetachedNodeWork(task=task(), seconds=1.0)):
        assert work.describe(ranks) == f"hopyard: run.1 (launcher), {words}"
