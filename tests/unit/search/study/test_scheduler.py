from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from hopyard.codec.records import encode_line
from hopyard.control.queue import DONE, Queue, StudyRules
from hopyard.errors import UnknownMethod
from hopyard.protocol.assignment import Assignment
from hopyard.search.study.scheduler import LEAVE, LONGEST_AWAY_SECONDS, NEXT, REPORT, TrialScheduler
from hopyard.tracking import TrialRecord, TrialState
from hopyard.worker.lease import HEARTBEAT

pytestmark = pytest.mark.unit

SIGN = {"rank": 0, "step": 3, "metrics": {"loss": 0.5}, "idle_seconds": 0.0, "lines": [], "notes": {}}


class Trials:
    """Trials that are numbers; their sampler may break, and think for long."""

    def __init__(self) -> None:
        self.asked = 0
        self.told: list[TrialRecord] = []
        self.is_broken = False
        self.thinks, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()
        self.reported: list[tuple[int, int]] = []

    def ask(self) -> Assignment | None:
        if self.is_broken:
            raise ArithmeticError("the sampler cannot go on")
        self.thinks.set()
        assert self.may_go_on.wait(30)
        self.asked += 1
        number = self.asked - 1
        return Assignment.of(number, params={"x": number}, arguments={"x": number}, folder=f"x={number}")

    def report(self, number: int, points: Any) -> bool:
        self.reported += [(number, step) for step, _ in points]
        return any(metrics["loss"] > 1 for _, metrics in points)

    def tell(self, record: TrialRecord) -> None:
        self.told.append(record)


class Office:
    """A scheduler, its store, and the time."""

    def __init__(self, trials: int = 3) -> None:
        self.book = Trials()
        self.now = 0.0
        self.committed = 0
        self.is_away = False
        queue = Queue(StudyRules(trials=trials))
        self.service = TrialScheduler(
            queue, self.book, commit=self.commit, clock=lambda: self.now, report_seconds=0.01
        )

    def commit(self) -> None:
        if self.is_away:
            raise OSError("the store is away")
        self.committed = len(self.book.told)

    def call(self, method: str, **message: Any) -> Mapping[str, Any]:
        return self.service.call(method, {"rank": 0, "incarnation": "a", **message})

    def next(self, ended: int | None = None) -> Mapping[str, Any]:
        told = None if ended is None else encode_line(end_of(ended)).decode()
        return self.call(NEXT, host="host", ended=told)

    def running(self) -> list[int]:
        return self.service.look(
            lambda queue: [slot.trial.number for slot in queue.slots if slot.trial is not None]
        )


def end_of(number: int) -> TrialRecord:
    return TrialRecord(number=number, params={}, state=TrialState.FINISHED, values=(1.0,))


def test_a_slot_is_given_a_trial_as_it_travels() -> None:
    trial = Assignment.from_json(Office().next()["trial"])
    assert (trial.number, trial.params, trial.folder) == (0, {"x": 0}, "x=0")


def test_what_was_decided_is_in_the_store_before_it_is_told() -> None:
    office = Office()
    office.next()
    office.next(ended=0)
    assert office.committed == 1


def test_slots_wait_for_a_store_that_is_away_and_nothing_is_lost_or_told_twice() -> None:
    office = Office()
    office.next()
    office.is_away = True
    answer = office.next(ended=0)
    assert (answer["trial"], answer["leave"]) == (None, None)
    assert answer["again"] > 0
    assert office.next()["trial"] is None
    office.is_away = False
    assert office.next()["trial"]["number"] == 1
    assert [record.number for record in office.book.told] == [0]
    assert office.service.error is None


def test_a_store_that_stays_away_ends_the_study() -> None:
    office = Office()
    office.is_away = True
    office.next()
    office.now += LONGEST_AWAY_SECONDS + 1
    assert office.next()["leave"] == "the store is away"
    assert isinstance(office.service.error, OSError)
    assert office.service.tick()


def test_a_store_that_comes_back_has_all_its_time_again() -> None:
    office = Office()
    for _ in range(3):
        office.is_away = True
        assert office.next()["trial"] is None
        office.is_away = False
        assert office.next()["trial"] is not None
        office.now += LONGEST_AWAY_SECONDS


def test_a_sampler_that_breaks_ends_the_study_with_its_error() -> None:
    office = Office()
    office.book.is_broken = True
    assert office.next()["leave"] == "the sampler cannot go on"
    assert isinstance(office.service.error, ArithmeticError)
    assert office.service.tick()
    assert office.service.news.is_set()
    assert office.call(HEARTBEAT, **SIGN)["stop"] == "the driver could not go on: the sampler cannot go on"


def test_a_report_is_answered_with_a_verdict() -> None:
    office = Office()
    office.next()
    assert office.call(REPORT, number=0, points=[[1, {"loss": 0.5}]]) == {"verdict": "go on"}
    assert office.call(REPORT, number=0, points=[[2, {"loss": 1.5}]]) == {"verdict": "prune"}


def test_a_heartbeat_carries_what_the_trial_is_doing() -> None:
    office = Office()
    office.next()
    answer = office.call(HEARTBEAT, **SIGN)
    assert answer["stop"] is None
    assert answer["again"] > 0
    (slot,) = office.service.look(lambda queue: queue.slots)
    assert (slot.heartbeat.step, slot.heartbeat.metrics) == (3, {"loss": 0.5})


def test_a_slot_that_leaves_gives_its_trial_back() -> None:
    office = Office()
    office.next()
    office.call(LEAVE)
    assert office.running() == []
    assert office.next()["trial"]["number"] == 0


def test_the_end_of_the_study_is_told_to_slots_and_to_whoever_waits() -> None:
    office = Office(trials=1)
    office.next()
    office.service.news.clear()
    assert office.next(ended=0)["leave"] == DONE
    assert office.service.news.is_set()
    assert office.service.tick()


def test_a_stop_reaches_slots_and_those_who_let_time_pass() -> None:
    office = Office()
    office.next()
    office.service.stop("enough")
    office.service.wait(60)  # returns at once
    assert office.call(HEARTBEAT, **SIGN)["stop"] == "enough"
    assert office.next()["leave"] == "enough"


def test_an_unknown_method_is_refused_and_ends_nothing() -> None:
    office = Office()
    with pytest.raises(UnknownMethod, match="dance"):
        office.call("dance")
    assert office.service.error is None
    assert not office.service.tick()


def test_slots_are_heard_while_a_sampler_thinks_for_longer_than_their_lease() -> None:
    office = Office()
    office.next()
    office.book.may_go_on.clear()
    office.book.thinks.clear()
    answers: list[Mapping[str, Any]] = []
    asking = threading.Thread(
        target=lambda: answers.append(office.call(NEXT, rank=1, incarnation="b", host="host", ended=None))
    )
    asking.start()
    assert office.book.thinks.wait(10)
    for _ in range(100):  # seconds, with a lease of 30
        office.now += 1
        for rank, incarnation in ((0, "a"), (1, "b")):
            assert (
                office.call(HEARTBEAT, **{**SIGN, "rank": rank, "incarnation": incarnation})["stop"] is None
            )
        assert not office.service.tick()
    assert [slot.number for slot in office.service.look(lambda queue: queue.slots)] == [0, 1]
    office.book.may_go_on.set()
    asking.join(10)
    assert answers[0]["trial"]["number"] == 1


def test_what_is_reported_while_a_sampler_thinks_is_reported_later() -> None:
    office = Office()
    office.next()
    office.book.may_go_on.clear()
    office.book.thinks.clear()
    asking = threading.Thread(
        target=office.call,
        args=(NEXT,),
        kwargs={"rank": 1, "incarnation": "b", "host": "host", "ended": None},
    )
    asking.start()
    assert office.book.thinks.wait(10)
    assert office.call(REPORT, number=0, points=[[1, {"loss": 1.5}]]) == {"verdict": "go on"}
    office.book.may_go_on.set()
    asking.join(10)
    assert office.call(REPORT, number=0, points=[[2, {"loss": 0.5}]]) == {"verdict": "prune"}
    assert office.book.reported == [(0, 1), (0, 2)]
