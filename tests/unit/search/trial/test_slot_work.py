from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from hopyard import Project
from hopyard.backends.inline import InlineBackend
from hopyard.control.pool_wire import PoolWire
from hopyard.control.queue import DONE, Queue, StudyRules
from hopyard.errors import DriverOutOfReach
from hopyard.protocol.assignment import Assignment
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.trial.call import TrialCall
from hopyard.search.trial.cluster_trials import Clusters
from hopyard.search.trial.result import Wanted
from hopyard.search.trial.slot import SlotOrders
from hopyard.search.trial.slot_work import ClusterSlotWork, SlotWork
from hopyard.tracking import RunId, TrialRecord
from hopyard.wire import WireServer
from hopyard.worker.driver_link import Driver, DriverAtHand, RemoteDriver
from hopyard.worker.work import Host, Member

pytestmark = pytest.mark.unit


def work(number: int) -> dict[str, float]:
    return {"metric": float(number), "process": os.getpid()}


CALL = TrialCall.of(work, ("metric",), Wanted.VALUE)


class Trials:
    """Two trials, numbered."""

    def __init__(self) -> None:
        self._left = [0, 1]
        self.told: list[TrialRecord] = []

    def ask(self) -> Assignment:
        number = self._left.pop(0)
        return Assignment.of(
            number, params={"number": number}, arguments={"number": number}, folder=f"number={number}"
        )

    def report(self, number: int, points: object) -> bool:
        raise AssertionError(number)

    def tell(self, record: TrialRecord) -> None:
        self.told.append(record)


class Study:
    """A study, and its driver on the wire."""

    def __init__(self) -> None:
        self.trials = Trials()
        queue = Queue(StudyRules(trials=2), now=time.monotonic())
        self.service = TrialScheduler(queue, self.trials, commit=lambda: None)
        self.server = WireServer(PoolWire(self.service), address="127.0.0.1")

    @property
    def remote(self) -> RemoteDriver:
        return RemoteDriver(endpoint=self.server.endpoint, outcome_key=self.service.outcome_key)

    def driver(self, where: str) -> Driver:
        return self.remote if where == "on the wire" else DriverAtHand(self.service)


@pytest.fixture
def study() -> Iterator[Study]:
    made = Study()
    yield made
    made.server.close()


def orders(**options: float) -> SlotOrders:
    return SlotOrders(
        run_id=RunId("app", "search", 1),
        study="vintage",
        project=Project.open(),
        payload=CALL.dump(),
        objectives=("metric",),
        **options,
    )


def clusters() -> Clusters:
    return Clusters(call=CALL, nodes=1, options={"backend": InlineBackend(), "project": Project.open()})


@pytest.mark.parametrize("where", ["at hand", "on the wire"])
def test_a_slot_runs_all_trials_in_one_process_and_leaves(study: Study, where: str) -> None:
    SlotWork(orders=orders()).run(Member(number=0), study.driver(where), Host())
    assert [(record.number, record.value) for record in study.trials.told] == [(0, 0.0), (1, 1.0)]
    processes = {record.result["process"] for record in study.trials.told}
    assert len(processes) == 1
    assert os.getpid() not in processes
    assert study.service.look(lambda queue: (queue.slots, queue.stopped)) == ((), DONE)


@pytest.mark.parametrize("where", ["at hand", "on the wire"])
def test_a_slot_of_clusters_runs_each_trial_as_one_and_leaves(study: Study, where: str) -> None:
    work = ClusterSlotWork(orders=orders(), clusters=clusters())
    work.run(Member(number=0), study.driver(where), Host())
    assert [(record.number, record.value) for record in study.trials.told] == [(0, 0.0), (1, 1.0)]
    assert study.service.look(lambda queue: (queue.slots, queue.stopped)) == ((), DONE)


def test_a_slot_whose_driver_is_gone_for_its_lease_has_failed(study: Study) -> None:
    study.server.close()
    with pytest.raises(DriverOutOfReach, match=study.server.endpoint.peer):
        SlotWork(orders=orders(lease_seconds=0.2)).run(Member(number=0), study.remote, Host())


def test_spark_shows_the_study_and_how_many_trials_it_runs_at_once() -> None:
    for work in (SlotWork(orders=orders()), ClusterSlotWork(orders=orders(), clusters=clusters())):
        assert work.describe([0, 1, 2]) == "hopyard: study vintage, 3 at once"
