from __future__ import annotations

import pickle
import re
import shutil
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hopyard import Project
from hopyard.backends.base import Crew
from hopyard.backends.group import GroupEnd
from hopyard.control.restart_policy import MOST_PORT_RACES
from hopyard.control.service import PoolService
from hopyard.errors import (
    BackendFailed,
    EndNotRecorded,
    HopyardError,
    NodeFailed,
    NodesMissing,
    NoProgress,
    NotEnoughSlots,
    RunStopped,
    StoreFailed,
)
from hopyard.protocol.messages import Arrive, Beat, Ended, Left, Reply
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.outcome import Outcome
from hopyard.run.controller import LONGEST_VALUE, RunController, RunPlan
from hopyard.run.options import TrainSpec
from hopyard.tracking import NodeOutcome, NodeState, RunReader, RunState, RunWriter
from hopyard.worker.node_work import NodeWork

pytestmark = pytest.mark.unit

INCARNATION = "scripted"
LOOKS = 2  # at the workers, between two looks of the controller at how the nodes are doing, at the most
Ending = GroupEnd | HopyardError | None  # None: it goes on until it is stopped


def outcome(
    rank: int, state: NodeState = NodeState.FINISHED, message: str | None = None, **more: Any
) -> Outcome:
    record = NodeOutcome(
        rank=rank,
        role="worker",
        host="there",
        state=state,
        message=message,
        started=0.0,
        **{"ended": 1.0, **more},
    )
    return Outcome(record=record, value=pickle.dumps(rank * 10) if state is NodeState.FINISHED else None)


def good(nodes: int = 1) -> GroupEnd:
    return GroupEnd(outcomes=tuple(outcome(rank) for rank in range(nodes)))


def bad(message: str = "ValueError: no luck", **more: Any) -> GroupEnd:
    return GroupEnd(outcomes=(outcome(0, NodeState.FAILED, message, **more),), culprit=0)


class ScriptedWorkers:
    """Nodes of one attempt: they tell some addresses, and end as it is written."""

    have_left = False
    refusal = None

    def __init__(self, backend: ScriptedBackend, crew: Crew, service: PoolService, ending: Ending) -> None:
        self._backend = backend
        self._service = service
        self._ending = ending
        self._looks = 0
        self._has_ended = False
        self.stopped = ""
        self.grace: float | None = None
        if isinstance(ending, HopyardError):
            return
        for member in crew.members:
            arrival = Arrive(number=member.number, incarnation=INCARNATION, address="a:1", host="there")
            service.ask(arrival)

    def watch(self) -> None:
        if self._has_ended:
            return
        if isinstance(self._ending, BackendFailed):
            self._service.give_up(self._ending)
        elif isinstance(self._ending, HopyardError):
            raise self._ending
        elif self._ending is None:
            self._end_when_told()
        elif self._backend.urls:
            self._tell_where_tensorboard_is()
        else:
            self._has_ended = True
            self._backend.on_end()
            self._end(self._ending)

    def close(self, patience: float) -> None:
        """Has nobody to wait for."""

    def _tell_where_tensorboard_is(self) -> None:
        self._beat(0, tensorboard=self._backend.urls[0])
        self._looks += 1
        if self._looks % LOOKS == 0:
            del self._backend.urls[0]

    def _end_when_told(self) -> None:
        self.stopped = self._beat(0).stop or ""
        if self.stopped:
            self._has_ended = True
            self._deliver(outcome(0, NodeState.KILLED, "it was stopped"))

    def _end(self, end: GroupEnd) -> None:
        if end.culprit is None:  # what has failed did so after its function had returned
            for each in end.outcomes:
                record = replace(each.record, state=NodeState.FINISHED)
                message = Ended(
                    number=record.rank, incarnation=INCARNATION, record=record, heartbeat=self._sign()
                )
                self._service.ask(message)
        for each in sorted(end.outcomes, key=lambda each: each.record.rank != end.culprit):
            self._deliver(each)

    def _deliver(self, ended: Outcome) -> None:
        rank = ended.record.rank
        self.grace = self._beat(rank).release
        self._service.deliver(rank, INCARNATION, ended)
        self._service.ask(Left(number=rank, incarnation=INCARNATION))

    def _beat(self, rank: int, **notes: str) -> Reply:
        return self._service.ask(Beat(number=rank, incarnation=INCARNATION, heartbeat=self._sign(**notes)))

    def _sign(self, **notes: str) -> Heartbeat:
        return Heartbeat(step=self._backend.step, notes=notes)


class ScriptedBackend:
    """A backend whose workers, those of one attempt after the other, end as they are written."""

    name = "scripted"
    application = None
    encrypts = False

    def __init__(self, *endings: Ending, urls: Sequence[str] = (), step: int | None = None) -> None:
        self._endings = list(endings)
        self.step = step
        self.urls = list(urls)
        self.attempts: list[int] = []
        self.groups: list[ScriptedWorkers] = []
        self.on_start: Callable[[], None] | None = None
        self.on_end: Callable[[], None] = lambda: None

    def start(self, crew: Crew, service: PoolService) -> ScriptedWorkers:
        assert isinstance(crew.work, NodeWork)
        self.attempts.append(crew.work.task.attempt)
        self.groups.append(ScriptedWorkers(self, crew, service, self._endings.pop(0)))
        if self.on_start is not None:
            self.on_start()
        return self.groups[-1]


class Run:
    """A run from its beginning to its end on a scripted backend."""

    def __init__(self, backend: ScriptedBackend, nodes: int = 1, **options: Any) -> None:
        spec = TrainSpec.of(nodes, options)  # type: ignore[arg-type]
        self.writer = RunWriter.begin(
            Project.open(), app_id="app", kind="launcher", name="r", nodes=nodes, backend=backend.name
        )
        score = RunPlan(spec=spec, backend=backend, project=Project.open(), payload=b"")
        self.announced: list[str] = []
        self.conductor = RunController(score, self.writer, announce=self.announce)

    def announce(self, url: str) -> None:
        if url == "broken":
            raise StoreFailed("run.json", "away")
        self.announced.append(url)

    def carry_out(self) -> tuple[Any, ...]:
        with self.writer:
            self.conductor.begin()
            return self.conductor.run()

    @property
    def record(self) -> Any:
        return RunReader(Project.open(), self.writer.id).record()


def test_the_values_of_all_nodes_come_back_and_the_first_is_on_record() -> None:
    run = Run(ScriptedBackend(good(3)), nodes=3)
    assert run.carry_out() == (0, 10, 20)
    assert (run.record.state, run.record.value, run.record.attempts) == (RunState.FINISHED, "0", 1)


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("not printable")


def test_a_value_that_can_not_be_printed_does_not_make_the_run_fail() -> None:
    value = Outcome(record=outcome(0).record, value=pickle.dumps(Unprintable()))
    run = Run(ScriptedBackend(GroupEnd(outcomes=(value,))))
    assert isinstance(run.carry_out()[0], Unprintable)
    assert run.record.value == "an Unprintable that cannot be printed (not printable)"


@pytest.mark.parametrize(("numbers", "ends"), [(1_000, "999]"), (100_000, "…")])
def test_a_long_value_is_on_record_as_a_whole_or_with_a_mark_where_it_was_cut(
    numbers: int, ends: str
) -> None:
    value = Outcome(record=outcome(0).record, value=pickle.dumps(list(range(numbers))))
    run = Run(ScriptedBackend(GroupEnd(outcomes=(value,))))
    run.carry_out()
    assert str(run.record.value).endswith(ends)
    assert len(str(run.record.value)) <= LONGEST_VALUE + 1


def test_a_value_is_put_aside_if_the_end_of_the_run_cannot_be_recorded() -> None:
    run = Run(ScriptedBackend(good(2)), nodes=2)
    folder = Path(Project.open().path)
    shutil.rmtree(folder)
    folder.write_text("in the way")
    with pytest.raises(EndNotRecorded, match="ended well, but that could not be recorded") as caught:
        run.carry_out()
    rescued = Path(re.findall(r"the returned value 0 is on \S+ in (\S+)", str(caught.value))[0])
    assert pickle.loads(rescued.read_bytes()) == 0
    shutil.rmtree(rescued.parent)


def break_the_project() -> None:
    """Lets nothing be written to it any more, as on a disk that became read-only."""
    folder = Path(Project.open().path)
    shutil.rmtree(folder)
    folder.write_text("in the way")


@pytest.mark.parametrize("max_restarts", [0, 1])
def test_a_failure_that_cannot_be_recorded_is_told_and_so_is_that(max_restarts: int) -> None:
    backend = ScriptedBackend(bad(), good())
    backend.on_end = break_the_project
    run = Run(backend, max_restarts=max_restarts)
    with pytest.raises(NodeFailed, match="ValueError: no luck") as caught:
        run.carry_out()
    *_, last = caught.value.__notes__
    assert last.startswith("The end of the run could not be recorded: ")
    assert last.endswith(
        f"Run {run.writer.id} is on record as RUNNING, and as LOST 50 s after its last heartbeat."
    )
    assert backend.attempts == [0]


# --- restarts --------------------------------------------------------------------------------------


def test_a_failure_ends_the_run_unless_restarts_were_asked_for() -> None:
    backend = ScriptedBackend(bad())
    run = Run(backend)
    with pytest.raises(NodeFailed, match="ValueError: no luck"):
        run.carry_out()
    assert (run.record.state, run.record.attempts, backend.attempts) == (RunState.FAILED, 1, [0])


def test_a_run_is_started_again_as_often_as_was_asked_for() -> None:
    backend = ScriptedBackend(bad("first"), bad("second"), good())
    run = Run(backend, max_restarts=2)
    assert run.carry_out() == (0,)
    assert backend.attempts == [0, 1, 2]
    assert run.record.attempts == 3
    assert run.record.restarts == (
        "node 0 (worker) on there failed: first",
        "node 0 (worker) on there failed: second",
    )


def test_the_last_failure_is_told_when_no_restart_is_left() -> None:
    backend = ScriptedBackend(bad("first"), bad("second"))
    with pytest.raises(NodeFailed, match="second"):
        Run(backend, max_restarts=1).carry_out()
    assert backend.attempts == [0, 1]


@pytest.mark.parametrize(
    "error",
    [NodesMissing(("node 1",), 2, 600.0), NoProgress(60.0, ()), BackendFailed("spark", "cancelled")],
    ids=lambda error: type(error).__name__,
)
def test_what_is_no_failure_of_a_node_is_not_tried_again(
    error: HopyardError, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopyard.run.controller.INTERRUPT_SECONDS", 0.01)
    backend = ScriptedBackend(error, good())
    with pytest.raises(type(error)):
        Run(backend, max_restarts=5).carry_out()
    assert backend.attempts == [0]


def test_a_port_that_somebody_else_took_costs_no_restart() -> None:
    backend = ScriptedBackend(bad(port_taken=True), good())
    assert Run(backend).carry_out() == (0,)
    assert backend.attempts == [0, 1]


@pytest.mark.parametrize(
    "message", ["OSError: [Errno 98] Address already in use", "UnknownError: Could not start gRPC server"]
)
def test_a_port_of_the_users_own_that_is_taken_is_a_failure(message: str) -> None:
    backend = ScriptedBackend(bad(message), good())
    with pytest.raises(NodeFailed, match=re.escape(message)):
        Run(backend).carry_out()
    assert backend.attempts == [0]


def test_a_run_whose_nodes_have_reported_had_its_ports() -> None:
    backend = ScriptedBackend(bad(port_taken=True), good(), step=5)
    with pytest.raises(NodeFailed):
        Run(backend).carry_out()
    assert backend.attempts == [0]


def test_ports_are_lost_a_few_times_at_the_most() -> None:
    backend = ScriptedBackend(*[bad(port_taken=True)] * (MOST_PORT_RACES + 1))
    with pytest.raises(NodeFailed):
        Run(backend).carry_out()
    assert backend.attempts == [0, 1, 2, 3]


def test_restarts_are_left_after_ports_were_lost() -> None:
    backend = ScriptedBackend(*[bad(port_taken=True)] * MOST_PORT_RACES, bad(), bad(), good())
    assert Run(backend, max_restarts=2).carry_out() == (0,)
    assert backend.attempts == [0, 1, 2, 3, 4, 5]


NO_ROOM = NotEnoughSlots(2, "slots", 1, "1 executor x 1 core came within 600 s", "wait")


def check_that_both_are_told(run: Run, second: HopyardError) -> None:
    """Carries out a run whose second attempt never began."""
    with pytest.raises(NodeFailed, match="ValueError: no luck") as caught:
        run.carry_out()
    told = "".join(traceback.format_exception(caught.value))
    assert f"It could not be started again: {type(second).__name__}: {second}" in told
    assert caught.value.__context__ is second
    assert run.record.error.startswith("NodeFailed: node 0 (worker) on there failed: ValueError: no luck")
    assert str(second) in run.record.error
    assert run.record.state is RunState.FAILED


def test_a_restart_that_is_refused_tells_of_the_failure_first() -> None:
    backend = ScriptedBackend(bad(), good())

    def refuse_the_second() -> None:
        if len(backend.groups) == 2:
            raise NO_ROOM

    backend.on_start = refuse_the_second
    check_that_both_are_told(Run(backend, max_restarts=2), NO_ROOM)


@pytest.mark.parametrize("error", [NO_ROOM, NodesMissing(("node 1",), 2, 600.0)])
def test_a_restart_for_which_no_room_comes_tells_of_the_failure_first(error: HopyardError) -> None:
    check_that_both_are_told(Run(ScriptedBackend(bad(), error), max_restarts=2), error)


def test_what_ends_a_second_attempt_otherwise_has_the_first_failure_as_its_cause() -> None:
    run = Run(ScriptedBackend(bad(), NoProgress(60.0, ())), max_restarts=1)
    with pytest.raises(NoProgress) as caught:
        run.carry_out()
    assert isinstance(caught.value.__cause__, NodeFailed)
    assert run.record.restarts == ("node 0 (worker) on there failed: ValueError: no luck",)


# --- who is to blame -------------------------------------------------------------------------------


def test_a_node_that_failed_after_its_function_had_returned_is_told() -> None:
    end = GroupEnd(outcomes=(outcome(0), outcome(1, NodeState.FAILED, "its log folder could not be stored")))
    with pytest.raises(NodeFailed, match=r"node 1 .* could not be stored"):
        Run(ScriptedBackend(end), nodes=2).carry_out()


def test_of_several_the_one_that_failed_first_is_told_and_not_one_that_was_stopped() -> None:
    end = GroupEnd(
        outcomes=(
            outcome(0, NodeState.KILLED, "it was stopped", ended=1.0),
            outcome(1, NodeState.FAILED, "later", ended=3.0),
            outcome(2, NodeState.FAILED, "earlier", ended=2.0),
        )
    )
    with pytest.raises(NodeFailed, match=r"node 2 .* earlier"):
        Run(ScriptedBackend(end), nodes=3).carry_out()


def test_the_culprit_that_the_group_names_is_told_whoever_failed_earlier() -> None:
    failed = [outcome(rank, NodeState.FAILED, f"of {rank}", ended=float(rank)) for rank in range(2)]
    with pytest.raises(NodeFailed, match="of 1"):
        Run(ScriptedBackend(GroupEnd(outcomes=tuple(failed), culprit=1)), nodes=2).carry_out()


# --- stop ------------------------------------------------------------------------------------------


def test_a_stop_ends_the_group_with_the_first_reason() -> None:
    backend = ScriptedBackend(None)
    run = Run(backend)
    backend.on_start = lambda: threading.Timer(0.05, run.conductor.stop, args=["enough"]).start()
    with pytest.raises(RunStopped, match="was stopped: enough"):
        run.carry_out()
    run.conductor.stop("again")
    assert backend.groups[0].stopped == "enough"


def test_a_stop_that_comes_between_two_attempts_ends_the_second_one() -> None:
    backend = ScriptedBackend(bad(), None)
    run = Run(backend, max_restarts=1)
    backend.on_start = lambda: run.conductor.stop("enough") if len(backend.groups) == 2 else None
    with pytest.raises(RunStopped):
        run.carry_out()
    assert [group.stopped for group in backend.groups] == ["", "enough"]


def test_a_stop_that_comes_right_after_spark_cancelled_the_job_is_what_is_told() -> None:
    backend = ScriptedBackend(BackendFailed("spark", "cancelled"))
    run = Run(backend)
    backend.on_start = lambda: threading.Timer(0.05, run.conductor.stop, args=["interrupted"]).start()
    with pytest.raises(RunStopped, match="interrupted"):
        run.carry_out()


def test_a_run_that_was_stopped_is_not_started_again() -> None:
    backend = ScriptedBackend(bad(), good())
    run = Run(backend, max_restarts=1)
    backend.on_end = lambda: run.conductor.stop("enough")
    with pytest.raises(RunStopped, match="enough") as caught:
        run.carry_out()
    assert isinstance(caught.value.__cause__, NodeFailed)
    assert (backend.attempts, run.record.attempts) == ([0], 1)


# --- the chief's TensorBoard -----------------------------------------------------------------------


def test_the_address_of_a_tensorboard_is_told_when_it_is_known_and_when_it_changes() -> None:
    run = Run(ScriptedBackend(good(), urls=["", "http://a", "http://a", "http://b"]))
    run.carry_out()
    assert run.announced == ["http://a", "http://b"]


def test_an_address_that_can_not_be_recorded_ends_no_training() -> None:
    run = Run(ScriptedBackend(good(), urls=["broken", "broken", "http://a"]))
    assert run.carry_out() == (0,)
    assert run.announced == ["http://a"]


def with_evaluator(backend: ScriptedBackend) -> Run:
    return Run(backend, nodes=2, evaluator=True, max_restarts=1)


def test_the_evaluators_time_is_what_was_asked_for() -> None:
    backend = ScriptedBackend(good(2))
    with_evaluator(backend).carry_out()
    assert [group.grace for group in backend.groups] == [30.0]


def test_the_evaluators_time_can_be_changed_while_the_nodes_run() -> None:
    backend = ScriptedBackend(good(2))
    run = with_evaluator(backend)
    backend.on_end = lambda: run.conductor.grant(77.0)
    run.carry_out()
    assert [group.grace for group in backend.groups] == [77.0]


def test_the_evaluators_time_counts_for_the_next_attempts_too() -> None:
    backend = ScriptedBackend(bad(), good(2))
    run = with_evaluator(backend)
    backend.on_start = lambda: run.conductor.grant(77.0) if len(backend.groups) == 1 else None
    run.carry_out()
    assert [group.grace for group in backend.groups] == [None, 77.0]
