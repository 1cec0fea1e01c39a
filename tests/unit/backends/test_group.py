"""What a group tells of its nodes, whatever becomes of them and of those who start them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from hopyard import Project
from hopyard.backends.base import Crew, Workers
from hopyard.backends.group import LEAVE_SECONDS, LOST_SECONDS, Group, GroupEnd, GroupOptions
from hopyard.control.gang import LOST, Timeouts
from hopyard.control.service import PoolService
from hopyard.errors import BackendFailed, HopyardError, JobCancelled, NodesMissing, NotEnoughSlots
from hopyard.protocol.messages import Arrive, Beat, Ended, Left
from hopyard.protocol.node_status import Heartbeat, Phase
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState, NodeWriter, RunId, RunReader
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.node_work import DetachedNodeWork, NodeWork
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit

RUN = RunId("app", "launcher", 1)
VALUE = b"\x80\x05K*."  # 42
REFUSAL = NotEnoughSlots(2, "slots", 1, "1 executor x 1 core", "wait")
Script = Callable[["Nodes"], None]


class Nodes:
    """A backend, and the nodes of its one group, which do what a test says whenever somebody looks at them."""

    name = "scripted"
    application = None
    encrypts = False

    def __init__(
        self,
        *steps: Script,
        at_close: Script = lambda _: None,
        have_left: bool = False,
        refusal: HopyardError | None = None,
    ) -> None:
        self._steps = list(steps)
        self._at_close = at_close
        self.have_left = have_left
        self.refusal = refusal
        self.patience: float | None = None

    def room(self, devices: DeviceRequest) -> int:
        return 2

    def start(self, crew: Crew, service: PoolService) -> Workers:
        self.crew = crew
        self.service = service
        return self

    def watch(self) -> None:
        if self._steps:
            self._steps.pop(0)(self)

    def close(self, patience: float) -> None:
        self.patience = patience
        self._at_close(self)

    def arrive(self, *ranks: int) -> None:
        for _ in range(2):  # in the second round all learn of the map
            for rank in ranks:
                arrival = Arrive(number=rank, incarnation="a", address=f"a:{rank}", host=f"host{rank}")
                self.service.ask(arrival)

    def beat(self, rank: int) -> str | None:
        return self.service.ask(Beat(number=rank, incarnation="a", heartbeat=Heartbeat())).stop

    def tell(self, rank: int, state: NodeState = NodeState.FINISHED) -> None:
        end = Ended(number=rank, incarnation="a", record=record(rank, state), heartbeat=Heartbeat())
        self.service.ask(end)

    def bring(self, rank: int, state: NodeState = NodeState.FINISHED) -> None:
        outcome = Outcome(record=record(rank, state), value=VALUE if state is NodeState.FINISHED else None)
        self.service.deliver(rank, "a", outcome)

    def leave(self, *ranks: int) -> None:
        for rank in ranks:
            self.service.ask(Left(number=rank, incarnation="a"))


def record(rank: int, state: NodeState = NodeState.FINISHED) -> NodeOutcome:
    message = None if state is NodeState.FINISHED else f"of {rank}"
    return NodeOutcome(
        rank=rank, role="worker", host="there", state=state, message=message, started=0.0, ended=1.0
    )


def group(nodes: Nodes, **timeouts: float) -> Group:
    plan = Plan.of(2)
    tasks = [
        NodeTask(node=node, plan=plan, run_id=RUN, project=Project.open(), payload=b"") for node in plan.nodes
    ]
    return Group(nodes, tasks, GroupOptions(timeouts=Timeouts(**timeouts)))


def end_of(nodes: Nodes, **timeouts: float) -> GroupEnd:
    end = group(nodes, **timeouts).wait(30)
    assert end is not None
    return end


def finish(nodes: Nodes) -> None:
    nodes.arrive(0, 1)
    for rank in range(2):
        NodeWriter(Project.open(), RUN, rank).outcome(record(rank))
        nodes.bring(rank)
        nodes.leave(rank)


def test_a_group_ends_with_what_its_nodes_bring_and_what_they_stored_stands() -> None:
    nodes = Nodes(finish)
    end = end_of(nodes)
    assert ([outcome.result() for outcome in end.outcomes], end.culprit) == ([42, 42], None)
    assert nodes.patience == LEAVE_SECONDS
    assert [outcome.state for outcome in RunReader(Project.open(), RUN).outcomes()] == [
        NodeState.FINISHED
    ] * 2


def test_a_wait_may_end_before_the_group() -> None:
    waiting = group(Nodes(lambda nodes: nodes.arrive(0, 1)))
    assert waiting.wait(0) is None
    assert [status.phase for status in waiting.status()] == [Phase.RUNNING, Phase.RUNNING]


def test_news_of_a_node_end_a_wait_at_once() -> None:
    nodes = Nodes(lambda nodes: nodes.arrive(0, 1))
    waiting = group(nodes)
    assert waiting.wait(0) is None
    finishing = threading.Timer(0.05, finish, args=[nodes])
    began = time.monotonic()
    finishing.start()
    assert waiting.wait(30) is not None
    finishing.join()
    assert time.monotonic() - began < 10


def test_who_never_started_is_told_as_the_backend_tells_it() -> None:
    with pytest.raises(NotEnoughSlots) as caught:
        end_of(Nodes(refusal=REFUSAL), start=0.0)
    assert caught.value is REFUSAL


def test_who_did_not_arrive_in_time_is_told_by_name() -> None:
    nodes = Nodes(
        lambda nodes: nodes.arrive(0), lambda nodes: (nodes.tell(0, NodeState.KILLED), nodes.leave(0))
    )
    with pytest.raises(NodesMissing, match=r"missing: node 1 \(worker\)"):
        end_of(nodes, start=0.0)
    assert nodes.patience == LOST_SECONDS


# --- a backend that breaks -------------------------------------------------------------------------

BROKEN = BackendFailed("scripted", "it was stopped")
CANCELLED = JobCancelled("scripted", "somebody cancelled it")


def test_a_backend_that_breaks_is_what_is_told() -> None:
    with pytest.raises(BackendFailed) as caught:
        end_of(Nodes(lambda nodes: nodes.service.give_up(BROKEN)))
    assert caught.value is BROKEN


def fail_first(error: HopyardError) -> Script:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.bring(1, NodeState.FAILED)
        nodes.leave(1)
        nodes.service.give_up(error)
        nodes.bring(0, NodeState.KILLED)
        nodes.leave(0)

    return script


def silent_at_the_end(error: HopyardError) -> Script:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0)
        nodes.bring(0, NodeState.FAILED)
        nodes.leave(0)
        nodes.service.give_up(error)

    return script


@pytest.mark.parametrize("script", [fail_first(BROKEN), silent_at_the_end(BROKEN)])
def test_a_node_that_failed_before_its_backend_broke_is_what_is_told(script: Script) -> None:
    end = end_of(Nodes(script))
    assert end.culprit is not None
    assert end.outcomes[end.culprit].record.state is NodeState.FAILED


@pytest.mark.parametrize("script", [fail_first(CANCELLED), silent_at_the_end(CANCELLED)])
def test_nodes_that_ended_with_a_job_that_somebody_cancelled_are_nobody_to_blame(script: Script) -> None:
    with pytest.raises(JobCancelled) as caught:
        end_of(Nodes(script))
    assert caught.value is CANCELLED


def be_killed(nodes: Nodes) -> None:
    for rank in range(2):
        assert nodes.beat(rank) is not None
        nodes.bring(rank, NodeState.KILLED)
        nodes.leave(rank)


def test_nodes_that_were_stopped_since_their_backend_broke_are_nobody_to_blame() -> None:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.service.give_up(BROKEN)
        be_killed(nodes)

    with pytest.raises(BackendFailed) as caught:
        end_of(Nodes(script))
    assert caught.value is BROKEN


def test_a_backend_that_says_why_it_lost_nodes_after_all_were_stopped_for_that_is_what_is_told() -> None:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.service.suspect()
        be_killed(nodes)

    nodes = Nodes(script, at_close=lambda nodes: nodes.service.give_up(CANCELLED))
    with pytest.raises(JobCancelled) as caught:
        end_of(nodes)
    assert caught.value is CANCELLED


def test_a_backend_that_breaks_while_its_nodes_end_well_changes_nothing() -> None:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.service.give_up(BROKEN)
        for rank in range(2):
            nodes.bring(rank)
            nodes.leave(rank)

    assert [outcome.result() for outcome in end_of(Nodes(script)).outcomes] == [42, 42]


def test_a_backend_that_breaks_when_all_outcomes_are_there_changes_nothing() -> None:
    end = end_of(Nodes(lambda nodes: (finish(nodes), nodes.service.give_up(BROKEN))))
    assert [outcome.result() for outcome in end.outcomes] == [42, 42]


# --- what is known of nodes that bring nothing -----------------------------------------------------


def test_a_node_that_had_not_arrived_when_another_failed_was_stopped() -> None:
    def script(nodes: Nodes) -> None:
        nodes.bring(0, NodeState.FAILED)
        nodes.leave(0)

    end = end_of(Nodes(script))
    assert end.culprit == 0
    assert (end.outcomes[1].record.state, end.outcomes[1].record.message) == (
        NodeState.KILLED,
        "it had not arrived when the run ended",
    )


def test_a_node_that_told_its_end_and_fell_silent_has_no_value() -> None:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.bring(0)
        nodes.tell(1)
        nodes.leave(0, 1)

    end = end_of(Nodes(script))
    assert end.outcomes[0].result() == 42
    assert end.outcomes[1].record.state is NodeState.FAILED
    assert "its value did not reach the driver (it fell silent" in str(end.outcomes[1].record.message)


def test_a_node_that_told_its_failure_and_fell_silent_has_failed_as_it_told() -> None:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.bring(0)
        nodes.tell(1, NodeState.FAILED)
        nodes.leave(0, 1)

    end = end_of(Nodes(script))
    assert (end.culprit, end.outcomes[1].record) == (1, record(1, NodeState.FAILED))


def test_a_node_that_vanished_is_lost_and_stored_as_such() -> None:
    def script(nodes: Nodes) -> None:
        nodes.arrive(0, 1)
        nodes.service.suspect()
        nodes.bring(0, NodeState.KILLED)
        nodes.leave(0)

    end = end_of(Nodes(script))
    assert end.culprit == 1
    lost = end.outcomes[1].record
    assert (lost.state, lost.host, lost.message) == (NodeState.FAILED, "host1", LOST)
    (stored,) = RunReader(Project.open(), RUN).outcomes()
    assert stored.message == LOST


# --- stop ------------------------------------------------------------------------------------------


def test_a_stop_waits_until_the_nodes_have_heard_of_it_and_are_gone() -> None:
    heard: list[str | None] = []

    def end(nodes: Nodes) -> None:
        for rank in range(2):
            heard.append(nodes.beat(rank))
            nodes.bring(rank, NodeState.KILLED)
            nodes.leave(rank)

    nodes = Nodes(lambda nodes: nodes.arrive(0, 1), lambda _: None, end)
    stopping = group(nodes)
    assert stopping.wait(0) is None
    stopping.stop("enough")
    assert heard == ["enough", "enough"]
    assert nodes.patience == LOST_SECONDS


# --- who is wanted ---------------------------------------------------------------------------------


def crew_of(options: GroupOptions) -> Crew:
    plan = Plan.of(3, ps=1)
    return options.crew(
        [
            NodeTask(
                node=node,
                plan=plan,
                run_id=RUN,
                project=Project.open(),
                payload=b"",
                devices=DeviceRequest(gpus=node.rank),
            )
            for node in plan.nodes
        ]
    )


def test_all_nodes_are_wanted_at_once_each_with_its_devices() -> None:
    crew = crew_of(GroupOptions(timeouts=Timeouts(start=60.0)))
    assert crew.is_gang
    assert [(member.number, member.devices.gpus) for member in crew.members] == [(0, 0), (1, 1), (2, 2)]
    assert isinstance(crew.work, NodeWork)
    assert (crew.start_seconds, crew.most_starts, crew.detached) == (60.0, 1, None)


def test_those_who_do_not_train_may_be_wanted_beside_the_driver() -> None:
    crew = crew_of(GroupOptions(on_driver=True))
    assert [member.is_beside_driver for member in crew.members] == [False, False, True]


def test_nodes_that_leave_have_half_of_the_time_to_arrive() -> None:
    crew = crew_of(GroupOptions(detach=True, timeouts=Timeouts(start=60.0)))
    assert isinstance(crew.detached, DetachedNodeWork)
    assert crew.detached.seconds == 30.0
