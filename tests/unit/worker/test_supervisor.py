from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import cloudpickle
import pytest

from hopyard import NodeContext, Project
from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.errors import DriverOutOfReach, PeerGone, RemoteError, RootUnusable
from hopyard.protocol.messages import Arrive, Beat, Message
from hopyard.protocol.node_status import Phase
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeState, RunId, RunReader
from hopyard.wire import WireServer
from hopyard.worker.driver_link import DriverAtHand, Link, RemoteDriver
from hopyard.worker.lease import Lease
from hopyard.worker.ports import hold_port
from hopyard.worker.supervisor import Supervisor
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit

A = TypeVar("A")


def task(function: object, app_id: str = "app", plan: Plan | None = None, rank: int = 0) -> NodeTask:
    plan = plan or Plan.of(1)
    return NodeTask(
        node=plan.nodes[rank],
        plan=plan,
        run_id=RunId(app_id, "launcher", 1),
        project=Project.open(),
        payload=cloudpickle.dumps(function),
    )


def driver(plan: Plan | None = None, **timeouts: float) -> Coordinator:
    return Coordinator(Gang(plan or Plan.of(1), Timeouts(**timeouts), now=time.monotonic()))


def supervisor(node: NodeTask, link: Link) -> Supervisor:
    """Returns a supervisor in the process of its driver."""
    return Supervisor(node, link, is_remote=DriverAtHand.is_remote)


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# --- one node from beginning to end ----------------------------------------------------------------


def test_the_driver_learns_that_a_node_came_and_how_it_ended() -> None:
    run = driver()
    outcome = supervisor(task(lambda: 42), run).run()
    assert outcome.result() == 42
    assert run.tick()
    (status,) = run.status()
    assert status.phase is Phase.FINISHED
    assert status.address.startswith("127.0.0.1:")


def test_a_failure_of_the_supervisor_itself_is_an_outcome_with_its_cause() -> None:
    run = driver()
    outcome = supervisor(task(print, app_id="not:possible"), run).run()
    assert outcome.record.state is NodeState.FAILED
    assert outcome.record.message is not None
    assert outcome.record.message.startswith("its supervisor could not go on (InvalidName: 'not:possible'")
    assert "check_name" in (outcome.record.traceback or "")
    assert run.status()[0].phase is Phase.FAILED


def test_a_store_that_a_node_cannot_reach_is_told_as_the_driver_tells_it(tmp_path: Path) -> None:
    root = tmp_path / "file"
    root.write_text("")
    unusable = Project.open(str(root), "p")
    outcome = supervisor(replace(task(print), project=unusable), driver()).run()
    with pytest.raises(RootUnusable) as caught:
        unusable.reach()
    assert outcome.record.message == str(caught.value)
    assert outcome.record.traceback == ""


def test_a_node_that_gets_no_port_tells_it_although_it_never_arrived() -> None:
    run = driver()
    with hold_port() as port:
        outcome = supervisor(replace(task(print), ports=(port.number,)), run).run()
    assert "PortsTaken: no free port at" in str(outcome.record.message)
    assert run.status()[0].phase is Phase.FAILED


def test_the_folder_of_the_driver_is_searched_for_modules() -> None:
    folder = Path(Project.open().root, "code")
    folder.mkdir()
    (folder / "only_here.py").write_text("ANSWER = 42")
    code = "lambda: __import__('only_here').ANSWER"
    searching = replace(task(eval(code)), search_path=(str(folder), "/no/such/folder"))
    assert str(folder) not in sys.path
    assert supervisor(searching, driver()).run().result() == 42


def environment() -> dict[str, str]:
    return dict(os.environ)


def test_the_key_for_outcomes_does_not_reach_the_nodes_own_process() -> None:
    secret = "only-for-supervisors"
    run = driver()
    run.outcome_key = secret.encode()
    with WireServer(PoolWire(run), address="127.0.0.1") as server:
        remote = RemoteDriver(endpoint=server.endpoint, outcome_key=secret.encode())
        with remote.open(call_seconds=5.0, patience=30.0) as link:
            outcome = Supervisor(task(environment), link, is_remote=remote.is_remote).run()
    assert run.is_settled
    assert "HOPYARD_NODE" in str(outcome.result())
    assert secret not in str(outcome.result())


def wait_until_its_file_and_its_line_are_in_the_project() -> str:
    """Returns once what it left can be read by others, while it still runs."""
    ctx = NodeContext.current()
    Path(ctx.logdir, "early").write_text("early")
    print("early line", flush=True)
    run = RunReader(ctx.project, ctx.run_id)
    deadline = time.monotonic() + 30
    while not (ctx.project.exists("Logs/TensorFlow/app/launcher/run.1/early") and "early line" in run.log()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return "seen"


def test_files_and_output_are_in_the_project_while_the_node_runs() -> None:
    syncing = replace(task(wait_until_its_file_and_its_line_are_in_the_project), sync_seconds=0.05)
    assert supervisor(syncing, driver()).run().result() == "seen"


class Driver:
    """A way to a driver that takes outcomes, after it has refused some."""

    def __init__(self, *refusals: Exception) -> None:
        self.gang = Gang(Plan.of(1), Timeouts(), now=time.monotonic())
        self.run = Coordinator(self.gang)
        self.refusals = list(refusals)
        self.taken: list[Outcome] = []

    def ask(self, message: Message[A]) -> A:
        return self.run.ask(message)

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.taken.append(outcome)
        self.run.deliver(number, incarnation, outcome)


def supervise_for(link: Driver, function: object, **more: str) -> Outcome:
    """Returns the outcome of a node, which its driver has then as well."""
    outcome = Supervisor(task(function, **more), link).run()  # type: ignore[arg-type]
    assert link.taken == [outcome]
    assert link.gang.outcomes == {0: outcome}
    assert link.run.is_settled
    return outcome


def test_an_outcome_is_brought_to_the_driver() -> None:
    assert supervise_for(Driver(), lambda: 42).result() == 42


def test_an_outcome_is_brought_again_to_a_driver_that_was_out_of_reach() -> None:
    assert supervise_for(Driver(PeerGone("driver", "put", "gone")), lambda: 42).result() == 42


def test_a_value_that_the_driver_refuses_makes_the_node_fail_with_the_reason() -> None:
    refusal = RemoteError("driver", "put outcome", "MemoryError", "no room")
    outcome = supervise_for(Driver(refusal), lambda: 42)
    assert outcome.record.state is NodeState.FAILED
    assert "its value did not reach the driver" in str(outcome.record.message)
    assert "no room" in str(outcome.record.message)


def test_the_end_of_a_supervisor_that_could_not_go_on_is_brought_too() -> None:
    outcome = supervise_for(Driver(), print, app_id="not:possible")
    assert "InvalidName" in str(outcome.record.message)


def test_the_end_of_a_node_that_never_began_is_brought_too() -> None:
    link = Driver()
    link.run.stop("enough")
    outcome = supervise_for(link, print)
    assert (outcome.record.state, outcome.record.message) == (NodeState.KILLED, "it was stopped: enough")


def test_a_driver_that_is_gone_at_the_end_is_an_error() -> None:
    with pytest.raises(DriverOutOfReach):
        Supervisor(task(lambda: 42), Driver(DriverOutOfReach("driver", "gone"))).run()


# --- stop ------------------------------------------------------------------------------------------


def test_a_node_that_is_stopped_before_it_starts_does_not_start() -> None:
    node = supervisor(task(print), driver())
    node.stop()
    record = node.run().record
    assert (record.state, record.message) == (NodeState.KILLED, "it was stopped: the driver said so")


def test_a_node_that_waits_for_others_is_stopped_without_having_begun() -> None:
    plan = Plan.of(2)
    run = driver(plan)
    ending = threading.Timer(0.1, run.stop, args=["enough"])
    ending.start()
    record = supervisor(task(print, plan=plan), run).run().record
    ending.join()
    assert (record.state, record.message) == (NodeState.KILLED, "it was stopped: enough")
    assert run.is_settled


def tell_in_which_order_it_hears_of_its_end() -> None:
    """Ends by itself when it gets a signal, after it has left word whether it could have known before."""
    import signal

    ctx = NodeContext.current()

    def leave(*_: object) -> None:
        ctx.project.put("known", str(ctx.should_stop()).encode())
        sys.exit(3)

    signal.signal(signal.SIGTERM, leave)
    ctx.project.put("up", b"")
    signal.pause()


def test_a_node_could_know_that_it_is_to_stop_before_the_signal_comes() -> None:
    run = driver()
    node = supervisor(task(tell_in_which_order_it_hears_of_its_end), run)
    stopping = threading.Thread(target=stop_when_up, args=(run,))
    stopping.start()
    record = node.run().record
    stopping.join()
    assert Project.open().read("known") == b"True"
    assert (record.state, record.message) == (NodeState.KILLED, "it was stopped: enough")


def stop_when_up(run: Coordinator) -> None:
    wait_for(lambda: Project.open().exists("up"))
    run.stop("enough")
    run.stop("the first reason counts")


# --- release ---------------------------------------------------------------------------------------


def evaluate_until_it_is_to_stop() -> str:
    ctx = NodeContext.current()
    ctx.project.put("up", b"")
    deadline = time.monotonic() + 30
    while not ctx.should_stop() and time.monotonic() < deadline:
        time.sleep(0.01)
    return "evaluated"


def serve_for_ever() -> None:
    NodeContext.current().project.put("up", b"")
    threading.Event().wait()


def run_beside_a_chief_that_is_done(evaluator: NodeTask, **timeouts: float) -> Any:
    """Returns the outcome of a second node; the first one returns once that is up."""
    run = driver(evaluator.plan, **timeouts)
    run.ask(Arrive(number=0, incarnation="a", address="a:1", host="there"))
    chief = Lease(run, 0, incarnation="a", seconds=30.0, holder=supervisor(task(print), run))
    finishing = threading.Thread(target=finish_when_up, args=(chief,))
    finishing.start()
    outcome = supervisor(evaluator, run).run()
    finishing.join()
    return outcome


def finish_when_up(chief: Lease) -> None:
    wait_for(lambda: Project.open().exists("up"))
    chief.tell(task(print).finished(time.time()))


def test_an_evaluator_may_end_by_itself_once_the_training_is_done() -> None:
    evaluator = task(evaluate_until_it_is_to_stop, plan=Plan.of(2, evaluator=True), rank=1)
    outcome = run_beside_a_chief_that_is_done(evaluator, grace=20.0)
    assert outcome.result() == "evaluated"
    assert outcome.record.message is None


def test_who_does_not_end_by_itself_is_ended_in_peace_after_its_grace() -> None:
    said: list[str] = []
    evaluator = task(serve_for_ever, plan=Plan.of(2, evaluator=True), rank=1)
    outcome = run_beside_a_chief_that_is_done(
        replace(evaluator, companions=(Companion(lambda: True, said),)), grace=0.1
    )
    assert (outcome.record.state, outcome.result()) == (NodeState.FINISHED, None)
    assert outcome.record.message == "it was ended when the training was done"
    assert said == []  # companions are those of rank 0


def test_a_stop_within_the_grace_is_a_stop() -> None:
    run = driver()
    node = supervisor(task(serve_for_ever), run)
    ending = threading.Thread(target=release_and_stop_when_up, args=(node,))
    ending.start()
    record = node.run().record
    ending.join()
    assert (record.state, record.message) == (NodeState.KILLED, "it was stopped: interrupted")


def release_and_stop_when_up(node: Supervisor) -> None:
    wait_for(lambda: Project.open().exists("up"))
    node.release(30.0)
    node.release(30.0)  # it is told again with every renewal
    node.stop("interrupted")


# --- beside the node -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Companion:
    """Waits for something before the node may start, and leaves word of its beginning and end."""

    heard: Callable[[], object]
    said: list[str]

    @contextmanager
    def __call__(self, logdir: Path, announce: Callable[[str, str], None]) -> Iterator[None]:
        announce("companion", "http://here")
        wait_for(self.heard)
        self.said.append("began")
        yield
        self.said.append("ended")


def test_a_node_renews_its_lease_while_it_still_prepares() -> None:
    run = driver()
    said: list[str] = []
    beats = Beats(run)
    companion = Companion(lambda: beats.count >= 2, said)
    outcome = supervisor(replace(task(lambda: 42), companions=(companion,)), beats).run()
    assert outcome.result() == 42
    assert said == ["began", "ended"]
    assert run.status()[0].notes == {"companion": "http://here"}


class Beats:
    """A link that counts heartbeats."""

    def __init__(self, link: Coordinator) -> None:
        self._link = link
        self.count = 0

    def ask(self, message: Message[A]) -> A:
        self.count += isinstance(message, Beat)
        return self._link.ask(message)

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        self._link.deliver(number, incarnation, outcome)


def leave_a_temporary_file() -> str:
    """Returns where a file is that nobody removes."""
    import tempfile

    with tempfile.NamedTemporaryFile(delete=False) as left:
        return left.name


def test_temporary_files_go_with_the_node() -> None:
    name = Path(supervisor(task(leave_a_temporary_file), driver()).run().result())
    assert not name.exists()
    assert not name.parent.exists()
