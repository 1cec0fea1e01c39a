from __future__ import annotations

import threading
from typing import Any

import pytest

from hopyard.control.queue import DONE, Queue, StudyRules
from hopyard.errors import BackendFailed, UnknownMethod
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.messages import (
    Arrive,
    AskTrial,
    Beat,
    Left,
    NextTrial,
    Noted,
    Reply,
    ReportTrial,
    Verdict,
)
from hopyard.protocol.node_status import Heartbeat
from hopyard.search.study.scheduler import LONGEST_AWAY_SECONDS, TrialScheduler
from hopyard.tracking import TrialRecord, TrialState

pytestmark = pytest.mark.unit

SIGN = Heartbeat(step=3, metrics={"loss": 0.5})


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

    def next(self, ended: int | None = None, slot: int = 0, incarnation: str = "a") -> NextTrial:
        told = None if ended is None else end_of(ended)
        return self.service.ask(AskTrial(number=slot, incarnation=incarnation, host="host", ended=told))

    def beat(self, slot: int = 0, incarnation: str = "a") -> Reply:
        return self.service.ask(Beat(number=slot, incarnation=incarnation, heartbeat=SIGN))

    def report(self, step: int, loss: float) -> Verdict:
        points = ((step, {"loss": loss}),)
        return self.service.ask(ReportTrial(number=0, incarnation="a", trial=0, points=points)).verdict

    def running(self) -> list[int]:
        return self.service.look(
            lambda queue: [slot.trial.number for slot in queue.slots if slot.trial is not None]
        )


def end_of(number: int) -> TrialRecord:
    return TrialRecord(number=number, params={}, state=TrialState.FINISHED, values=(1.0,))


def number_of(answer: NextTrial) -> int | None:
    return None if answer.trial is None else answer.trial.number


def test_a_slot_is_given_a_trial() -> None:
    trial = Office().next().trial
    assert trial is not None
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
    assert (answer.trial, answer.leave) == (None, None)
    assert answer.again > 0
    assert office.next().trial is None
    office.is_away = False
    assert number_of(office.next()) == 1
    assert [record.number for record in office.book.told] == [0]
    assert office.service.error is None


def test_a_store_that_stays_away_ends_the_study() -> None:
    office = Office()
    office.is_away = True
    office.next()
    office.now += LONGEST_AWAY_SECONDS + 1
    assert office.next().leave == "the store is away"
    assert isinstance(office.service.error, OSError)
    assert office.service.tick()


def test_a_store_that_comes_back_has_all_its_time_again() -> None:
    office = Office()
    for _ in range(3):
        office.is_away = True
        assert office.next().trial is None
        office.is_away = False
        assert office.next().trial is not None
        office.now += LONGEST_AWAY_SECONDS


def test_a_sampler_that_breaks_ends_the_study_with_its_error() -> None:
    office = Office()
    office.book.is_broken = True
    assert office.next().leave == "the sampler cannot go on"
    assert isinstance(office.service.error, ArithmeticError)
    assert office.service.tick()
    assert office.service.news.is_set()
    assert office.beat().stop == "the driver could not go on: the sampler cannot go on"


def test_a_report_is_answered_with_a_verdict() -> None:
    office = Office()
    office.next()
    assert office.report(1, 0.5) is Verdict.GO_ON
    assert office.report(2, 1.5) is Verdict.PRUNE


def test_a_heartbeat_carries_what_the_trial_is_doing() -> None:
    office = Office()
    office.next()
    answer = office.beat()
    assert answer.stop is None
    assert answer.again > 0
    (slot,) = office.service.look(lambda queue: queue.slots)
    assert (slot.heartbeat.step, slot.heartbeat.metrics) == (3, {"loss": 0.5})


def test_a_slot_that_leaves_gives_its_trial_back() -> None:
    office = Office()
    office.next()
    office.service.news.clear()
    assert office.service.ask(Left(number=0, incarnation="a")) == Noted()
    assert office.service.news.is_set()
    assert office.running() == []
    assert number_of(office.next()) == 0


def test_the_end_of_the_study_is_told_to_slots_and_to_whoever_waits() -> None:
    office = Office(trials=1)
    office.next()
    office.service.news.clear()
    assert office.next(ended=0).leave == DONE
    assert office.service.news.is_set()
    assert office.service.tick()


def test_a_stop_reaches_slots_and_those_who_let_time_pass() -> None:
    office = Office()
    office.next()
    office.service.stop("enough")
    assert office.service.news.is_set()
    assert office.beat().stop == "enough"
    assert office.next().leave == "enough"


def test_a_message_for_another_kind_of_pool_is_refused_and_ends_nothing() -> None:
    office = Office()
    with pytest.raises(UnknownMethod, match="Arrive"):
        office.service.ask(Arrive(number=0, incarnation="a", address="b:1", host="host"))
    assert office.service.error is None
    assert not office.service.tick()


def test_slots_are_heard_while_a_sampler_thinks_for_longer_than_their_lease() -> None:
    office = Office()
    office.next()
    office.book.may_go_on.clear()
    office.book.thinks.clear()
    answers: list[NextTrial] = []
    asking = threading.Thread(target=lambda: answers.append(office.next(slot=1, incarnation="b")))
    asking.start()
    assert office.book.thinks.wait(10)
    for _ in range(100):  # seconds, with a lease of 30
        office.now += 1
        for slot, incarnation in ((0, "a"), (1, "b")):
            assert office.beat(slot, incarnation).stop is None
        assert not office.service.tick()
    assert [slot.number for slot in office.service.look(lambda queue: queue.slots)] == [0, 1]
    office.book.may_go_on.set()
    asking.join(10)
    assert number_of(answers[0]) == 1


def test_what_is_reported_while_a_sampler_thinks_is_reported_later() -> None:
    office = Office()
    office.next()
    office.book.may_go_on.clear()
    office.book.thinks.clear()
    asking = threading.Thread(target=office.next, kwargs={"slot": 1, "incarnation": "b"})
    asking.start()
    assert office.book.thinks.wait(10)
    assert office.report(1, 1.5) is Verdict.GO_ON
    office.book.may_go_on.set()
    asking.join(10)
    assert office.report(2, 0.5) is Verdict.PRUNE
    assert office.book.reported == [(0, 1), (0, 2)]


def test_a_verdict_on_a_trial_that_is_no_longer_the_slots_is_to_drop_it() -> None:
    assert Office().report(1, 0.5) is Verdict.DROP


def test_whoever_could_not_be_answered_is_told_nothing_about_its_trial() -> None:
    office = Office()
    office.next()
    office.book.report = broken  # type: ignore[method-assign]
    assert office.report(1, 0.5) is Verdict.DROP
    assert isinstance(office.service.error, ArithmeticError)


def broken(number: int, points: Any) -> bool:
    raise ArithmeticError("the pruner cannot go on")


# --- a backend that breaks -------------------------------------------------------------------------

LOST = BackendFailed("spark", "it was stopped")


def test_a_backend_that_gives_slots_up_ends_the_study_with_its_error() -> None:
    office = Office()
    office.next()
    assert not office.service.is_ending
    office.service.news.clear()
    office.service.give_up(LOST)
    assert office.service.error is LOST
    assert (office.service.is_ending, office.service.tick()) == (True, True)
    assert office.service.news.is_set()
    assert office.beat().stop == f"the driver could not go on: {LOST}"
    assert office.next().leave == f"the driver could not go on: {LOST}"


def test_the_first_error_counts() -> None:
    office = Office()
    office.service.give_up(LOST)
    office.service.give_up(ArithmeticError("later"))
    assert office.service.error is LOST


def test_a_backend_that_gives_slots_up_after_the_end_of_the_study_is_nothing_to_tell() -> None:
    office = Office(trials=1)
    office.next()
    assert office.next(ended=0).leave == DONE
    office.service.give_up(LOST)
    assert office.service.error is None
    assert office.next().leave == DONE


def test_a_backend_that_gives_slots_up_after_a_stop_is_nothing_to_tell() -> None:
    office = Office()
    office.service.stop("enough")
    office.service.give_up(LOST)
    assert office.service.error is None
    assert office.next().leave == "enough"


def test_a_trial_that_ended_while_the_backend_broke_is_told_when_all_is_settled() -> None:
    office = Office()
    office.next()
    office.service.give_up(LOST)
    office.next(ended=0)
    office.service.settle()
    assert [record.number for record in office.book.told] == [0]


def test_slots_are_wanted_while_the_study_goes_on_and_its_progress_is_what_has_ended() -> None:
    office = Office()
    assert (office.service.awaits_workers, office.service.progress) == (True, 0)
    office.next()
    assert office.service.progress == 0
    office.next(ended=0)
    office.next(ended=1)
    assert office.service.progress == 2
