from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hopyard.search.trial.cluster_slots import ClusterSlotBackend
from hopyard.search.trial.slots import ProcessSlotBackend

from hopyard import NodeContext, Project
from hopyard.backends.base import GroupEnd, GroupOptions
from hopyard.backends.inline import InlineBackend, InlineGroup
from hopyard.control.queue import Queue, StudyRules
from hopyard.errors import BackendFailed, NotEnoughSlots
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.trial.call import TrialCall
from hopyard.search.trial.result import Wanted
from hopyard.search.trial.run import NOT_STORED
from hopyard.search.trial.slot import SlotOrders
from hopyard.tracking import RunId, TrialRecord, TrialState
from hopyard.worker.task import NodeTask

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

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> InlineGroup:
        self.starts += 1
        error, self._error = self._error, None
        if error is not None:
            raise error
        return super().start(tasks, options)


class LongEnd(Backend):
    """A backend whose nodes run for ever, and take so many seconds to end."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> Any:
        self.starts += 1
        return self

    def wait(self, timeout: float | None = None) -> GroupEnd | None:
        threading.Event().wait(timeout)
        return None

    def stop(self, reason: str) -> None:
        threading.Event().wait(self._seconds)

    def status(self) -> tuple[NodeStatus, ...]:
        return (NodeStatus(rank=0, role="chief", phase=Phase.RUNNING),)


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
    where = ClusterSlotBackend(
        inner=ProcessSlotBackend(),
        call=call,
        nodes=1,
        options={"backend": backend, "project": Project.open()},
    )
    running = where.start(orders, slots, service)
    try:
        while not service.tick():
            running.check()
            service.news.wait(0.05)
            if slots_were is not None:
                slots_were.append(service.look(lambda queue: len(queue.slots)))
        service.settle()
    finally:
        service.stop("the test is over")
        running.close()
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
