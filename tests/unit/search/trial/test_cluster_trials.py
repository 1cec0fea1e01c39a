from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hopyard import NodeContext, Project
from hopyard.backends.base import Crew, Workers
from hopyard.backends.inline import InlineBackend
from hopyard.control.queue import Queue, StudyRules
from hopyard.control.service import PoolService
from hopyard.errors import BackendFailed, NotEnoughSlots
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.messages import Arrive, Ended, Left
from hopyard.protocol.node_status import Heartbeat
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.trial.call import TrialCall
from hopyard.search.trial.cluster_trials import ClusterBackend, Clusters
from hopyard.search.trial.result import Wanted
from hopyard.search.trial.run import NOT_STORED
from hopyard.search.trial.slot import SlotOrders
from hopyard.search.trial.slot_work import ClusterSlotWork
from hopyard.tracking import NodeOutcome, NodeState, RunId, TrialRecord, TrialState
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.work import Member

pytestmark = pytest.mark.unit

RUN = RunId("app", "search", 1)
FOLDER = "Logs/TensorFlow/app/search/run.1"
LEASE_SECONDS = 1.0


def number_of(number: int) -> float:
    """Returns its number."""
    return float(number)


def be_in_the_way_of_the_record(number: int, ctx: NodeContext) -> float:
    """Leaves a folder where trial 0 is to have its record."""
    if number == 0:
        os.makedirs(ctx.path(f"{FOLDER}/number=0/trial.json/folder"))
    return float(number)


class Trials:
    """So many trials, numbered; each takes so many seconds to choose."""

    def __init__(self, count: int, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._left = list(range(count))
        self.told: list[TrialRecord] = []

    def ask(self) -> Assignment:
        threading.Event().wait(self._seconds)
        number = self._left.pop(0)
        return Assignment.of(
            number, params={"number": number}, arguments={"number": number}, folder=f"number={number}"
        )

    def report(self, number: int, points: object) -> bool:
        return False

    def tell(self, record: TrialRecord) -> None:
        self.told.append(record)


class Backend(InlineBackend):
    """Runs nodes in this process; the first start fails if there is an error for it."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.starts = 0

    def start(self, crew: Crew, service: PoolService) -> Workers:
        self.starts += 1
        error, self._error = self._error, None
        if error is not None:
            raise error
        return super().start(crew, service)


class LongEnd(Backend):
    """A backend whose nodes run for ever, and take so many seconds to end."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def start(self, crew: Crew, service: PoolService) -> Workers:
        self.starts += 1
        service.ask(Arrive(number=0, incarnation="a", address="a:1", host="here"))
        return LateToEnd(service, self._seconds)


class LateToEnd:
    """A node that ends so many seconds after it was told to."""

    have_left = False
    refusal = None

    def __init__(self, service: PoolService, seconds: float) -> None:
        self._service = service
        self._seconds = seconds
        self._told: float | None = None
        self.has_ended = False

    def watch(self) -> None:
        if not self._service.is_ending or self.has_ended:
            return
        self._told = self._told or time.monotonic()
        if time.monotonic() - self._told > self._seconds:
            self.has_ended = True
            record = NodeOutcome(
                rank=0, role="chief", host="here", state=NodeState.KILLED, started=0.0, ended=1.0
            )
            end = Ended(number=0, incarnation="a", record=record, heartbeat=Heartbeat())
            self._service.ask(end)
            self._service.ask(Left(number=0, incarnation="a"))

    def close(self, patience: float) -> None:
        assert self.has_ended


class Vanishing(Backend):
    """A backend whose first cluster loses its executor, and says so."""

    def start(self, crew: Crew, service: PoolService) -> Workers:
        if self.starts:
            return super().start(crew, service)
        self.starts += 1
        service.ask(Arrive(number=0, incarnation="a", address="a:1", host="here"))
        return Vanished(service)


class Vanished:
    """A node that is never heard again."""

    have_left = False
    refusal = None

    def __init__(self, service: PoolService) -> None:
        self._service = service

    def watch(self) -> None:
        self._service.suspect()

    def close(self, patience: float) -> None:
        """Has nobody to wait for."""


def search(
    trials: Trials,
    backend: Backend,
    function: Callable[..., float] = number_of,
    *,
    count: int = 2,
    slots: int = 1,
    trial_seconds: float | None = None,
    slots_were: list[int] | None = None,
) -> list[TrialRecord]:
    """Runs trials, each as a cluster; returns what was told of them, and notes how many slots were there."""
    rules = StudyRules(trials=count, lease=LEASE_SECONDS)
    service = TrialScheduler(Queue(rules, now=time.monotonic()), trials, commit=lambda: None)
    call = TrialCall.of(function, ("metric",), Wanted.VALUE)
    orders = SlotOrders(
        run_id=RUN,
        study="vintage",
        project=Project.open(),
        payload=b"",
        objectives=("metric",),
        lease_seconds=LEASE_SECONDS,
        trial_seconds=trial_seconds,
    )
    clusters = Clusters(call=call, nodes=1, options={"backend": backend, "project": Project.open()})
    crew = Crew(
        work=ClusterSlotWork(orders=orders, clusters=clusters),
        members=tuple(Member(number=number) for number in range(slots)),
    )
    running = ClusterBackend(inner=backend, nodes=1).start(crew, service)
    try:
        while not service.tick():
            running.watch()
            service.news.wait(0.05)
            if slots_were is not None:  # at the end of the study they leave
                slots_were.append(service.look(lambda queue: 1 if queue.is_over else len(queue.slots)))
        if service.error is not None:
            raise service.error
        service.settle()
    finally:
        service.stop("the test is over")
        running.close(0.0)
    return trials.told


def test_each_trial_is_a_cluster() -> None:
    first, second = search(Trials(2), Backend())
    assert (first.value, second.value) == (0.0, 1.0)
    assert Project.open().exists(f"{FOLDER}/number=1/trial.json")


# --- what goes wrong in one trial ------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("no more files"), BackendFailed("spark", "it was stopped")])
def test_a_cluster_that_does_not_start_is_a_failure_of_its_trial(error: Exception) -> None:
    first, second = search(Trials(2), Backend(error))
    assert (first.state, first.error_type, first.error) == (
        TrialState.FAILED,
        type(error).__name__,
        str(error),
    )
    assert second.value == 1.0


def test_a_trial_whose_folder_cannot_be_made_is_a_failure_and_the_others_go_on() -> None:
    Project.open().put(f"{FOLDER}/number=0", b"in the way")
    first, second = search(Trials(2), Backend())
    assert first.state is TrialState.FAILED
    assert "number=0" in str(first.error)
    assert second.value == 1.0


def test_a_trial_whose_record_cannot_be_stored_counts_all_the_same() -> None:
    first, second = search(Trials(2), Backend(), be_in_the_way_of_the_record)
    assert (first.state, first.value, first.error_type) == (TrialState.FINISHED, 0.0, NOT_STORED)
    assert str(first.error).startswith("its record could not be stored: ")
    assert second.value == 1.0
    assert Path(Project.open().url(f"{FOLDER}/number=0/trial.json/folder")).is_dir()


def test_a_plan_that_never_fits_is_refused_by_the_first_trial() -> None:
    refusal = NotEnoughSlots(9, "slots", 2, "2 executors x 1 core", "ask for more")
    with pytest.raises(NotEnoughSlots):
        search(Trials(2), Backend(refusal))


def test_a_cluster_that_lost_its_executor_is_no_failure_of_its_trial_which_runs_again() -> None:
    backend = Vanishing()
    (record,) = search(Trials(1), backend, count=1)
    assert (record.state, record.value, record.attempt) == (TrialState.FINISHED, 0.0, 1)
    assert backend.starts == 2


# --- where clusters run ----------------------------------------------------------------------------


class Roomy(Backend):
    """A backend with room for so many nodes."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self._nodes = nodes

    def room(self, devices: DeviceRequest) -> int:
        return self._nodes


@pytest.mark.parametrize(("nodes", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (7, 3)])
def test_there_is_room_for_a_cluster_for_each_of_its_size_and_for_one_at_least(
    nodes: int, expected: int
) -> None:
    assert ClusterBackend(inner=Roomy(nodes), nodes=2).room(DeviceRequest()) == expected


def test_a_study_of_clusters_is_on_record_as_where_these_are() -> None:
    where = ClusterBackend(inner=Backend(), nodes=2)
    assert (where.name, where.application, where.encrypts) == ("inline", None, False)


# --- heartbeats ------------------------------------------------------------------------------------


def test_a_slot_whose_cluster_takes_its_time_to_end_is_not_lost() -> None:
    backend = LongEnd(3 * LEASE_SECONDS)
    (record,) = search(Trials(1), backend, count=1, slots=2, trial_seconds=0.1)
    assert (record.error_type, record.attempt, backend.starts) == ("TrialTimeout", 0, 1)


def test_a_slot_is_not_lost_while_a_sampler_thinks() -> None:
    seen: list[int] = []
    (record,) = search(Trials(1, 3 * LEASE_SECONDS), Backend(), count=1, slots_were=seen)
    assert (record.value, record.attempt) == (0.0, 0)
    assert 0 not in seen[seen.index(1) :]
