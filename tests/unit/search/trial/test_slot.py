from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hopyard.codec.records import decode
from hopyard.control.queue import Queue, StudyRules
from hopyard.errors import DriverOutOfReach, PeerGone
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.messages import AskTrial, Message, ReportTrial
from hopyard.protocol.outcome import Outcome
from hopyard.run.context import NodeContext
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.trial.call import TrialCall
from hopyard.search.trial.process_trials import ProcessTrials
from hopyard.search.trial.result import Wanted
from hopyard.search.trial.slot import Slot, SlotOrders
from hopyard.store import Project
from hopyard.testing.processes import descendants
from hopyard.tracking import RunId, TrialRecord, TrialState

pytestmark = pytest.mark.unit

RUN = RunId("app", "search", 1)
A = TypeVar("A")
Look = Callable[[Message[Any]], None]


def work(number: int) -> dict[str, float]:
    """Returns its number and its process; trial 9 never ends."""
    print(f"trial {number}", flush=True)
    if number == 9:
        threading.Event().wait()
    return {"metric": float(number), "process": os.getpid()}


def report_and_work(number: int, ctx: NodeContext) -> float:
    """Reports once and returns its number."""
    ctx.report(1, metric=number)
    return float(number)


def ask_and_work(number: int, ctx: NodeContext) -> float:
    """Returns half a result if it is told to end."""
    ctx.report(1, metric=number)
    return -1.0 if ctx.should_stop() else float(number)


class Trials:
    """A book of so many trials."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self.asked = 0
        self.told: list[TrialRecord] = []
        self.is_harsh = False  # every trial that reports is to be stopped

    def ask(self) -> Assignment:
        number = self._numbers[self.asked]
        self.asked += 1
        return Assignment.of(
            number, params={"number": number}, arguments={"number": number}, folder=f"number={number}"
        )

    def report(self, number: int, points: object) -> bool:
        return self.is_harsh

    def tell(self, record: TrialRecord) -> None:
        self.told.append(record)


class Driver:
    """A driver that may be out of reach: before a call arrives, or after."""

    def __init__(self, *numbers: int) -> None:
        self.book = Trials(numbers)
        self.service = TrialScheduler(Queue(StudyRules(trials=len(numbers))), self.book, commit=lambda: None)
        self.before: Look = lambda _: None
        self.after: Look = lambda _: None

    def ask(self, message: Message[A]) -> A:
        self.before(message)
        answer = self.service.ask(message)
        self.after(message)
        return answer

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        raise AssertionError(outcome)


class RunningSlot:
    """A slot beside its driver, whose trials are in processes."""

    def __init__(self, driver: Driver, orders: SlotOrders) -> None:
        self._driver = driver
        self._orders = orders
        self._slot: Slot | None = None

    def run(self) -> int:
        with ProcessTrials(self._orders, 0, gpus=None, is_remote=False) as trials:
            self._slot = Slot(0, self._driver, trials, lease_seconds=self._orders.lease_seconds)
            return self._slot.run()

    def stop(self, reason: str) -> None:
        assert self._slot is not None
        self._slot.stop(reason)


def orders_of(function: Callable[..., Any] = work, **options: Any) -> SlotOrders:
    return SlotOrders(
        run_id=RUN,
        study="vintage",
        project=Project.open(),
        payload=TrialCall.of(function, ("metric",), Wanted.VALUE).dump(),
        objectives=("metric",),
        **options,
    )


def slot(driver: Driver, function: Callable[..., Any] = work, **options: Any) -> RunningSlot:
    return RunningSlot(driver, orders_of(function, **options))


def gone() -> PeerGone:
    return PeerGone("driver:1", "asking", "connection refused")


def records() -> list[Path]:
    return list(Path(Project.open().url("")).rglob("trial.json"))


def test_a_slot_runs_trials_in_one_process_until_there_are_no_more() -> None:
    driver = Driver(0, 1, 2)
    assert slot(driver).run() == 3
    assert [(record.number, record.value) for record in driver.book.told] == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert len({record.result["process"] for record in driver.book.told}) == 1
    assert not driver.service.look(lambda queue: queue.slots)
    assert not descendants(os.getpid(), "hopyard.search.trial.entry")


def test_a_slot_that_is_told_to_end_after_its_last_question_says_that_it_leaves() -> None:
    driver = Driver(0)
    asking = slot(driver)

    def end(message: Message[Any]) -> None:
        if isinstance(message, AskTrial) and driver.service.look(lambda queue: queue.is_over):
            asking.stop("the study is done")  # as its lease does

    driver.after = end
    assert asking.run() == 1
    assert not driver.service.look(lambda queue: queue.slots)


def test_a_trial_is_stored_before_it_is_told() -> None:
    driver = Driver(0, 1)
    stored_when_told: list[int] = []

    def look(message: Message[Any]) -> None:
        if isinstance(message, AskTrial) and message.ended is not None:
            stored_when_told.append(len(records()))

    driver.before = look
    slot(driver).run()
    assert stored_when_told == [1, 2]
    folder = Path(Project.open().url(""), "Logs/TensorFlow/app/search/run.1/number=1")
    assert (folder / "logfile").read_text() == "trial 1\n"
    assert (folder / "metric").read_text() == "1.0"


def test_isolated_trials_have_processes_of_their_own() -> None:
    driver = Driver(0, 1)
    slot(driver, isolate=True).run()
    assert len({record.result["process"] for record in driver.book.told}) == 2


def test_a_call_that_fails_is_made_again_and_no_trial_is_lost_or_run_twice() -> None:
    driver = Driver(0, 1)
    failures = iter([False, True, False, True])

    def fail(message: Message[Any]) -> None:
        if isinstance(message, AskTrial) and next(failures, False):
            raise gone()

    driver.after = fail  # the driver has heard it, and its answer is lost
    slot(driver).run()
    assert [record.number for record in driver.book.told] == [0, 1]


def test_a_slot_whose_driver_is_gone_for_too_long_gives_up() -> None:
    driver = Driver(0, 1)

    def fail_once_a_trial_is_given_out(_: Message[Any]) -> None:
        if driver.book.asked:
            raise gone()

    driver.before = fail_once_a_trial_is_given_out
    with pytest.raises(DriverOutOfReach):
        slot(driver, lease_seconds=1.0).run()
    assert len(records()) == 1  # which the next driver finds
    assert not descendants(os.getpid(), "hopyard.search.trial.entry")


def stored() -> list[tuple[int, TrialState, float | None]]:
    found = [decode(TrialRecord, path.read_bytes(), str(path)) for path in records()]
    return [(record.number, record.state, record.value) for record in found]


def test_a_trial_that_has_finished_when_its_driver_is_gone_keeps_its_value() -> None:
    driver = Driver(3)
    ending = slot(driver, report_and_work)

    def be_gone(message: Message[Any]) -> None:
        if isinstance(message, ReportTrial):
            ending.stop("its driver is gone")  # as its lease does
        if driver.book.asked:
            raise gone()

    driver.before = be_gone
    ending.run()
    assert stored() == [(3, TrialState.FINISHED, 3.0)]


def test_a_trial_that_asks_a_driver_who_is_gone_leaves_no_record() -> None:
    driver = Driver(3)

    def be_gone(_: Message[Any]) -> None:
        if driver.book.asked:
            raise gone()

    driver.before = be_gone
    with pytest.raises(DriverOutOfReach):
        slot(driver, ask_and_work, lease_seconds=1.0, is_judged=True).run()
    assert stored() == []


def test_a_slot_whose_trial_went_to_another_leaves_no_record_and_asks_for_the_next() -> None:
    driver = Driver(3, 4)
    losses = iter([True])

    def lose_trial_3(message: Message[Any]) -> None:
        if isinstance(message, ReportTrial) and next(losses, False):
            driver.service.look(
                lambda queue: queue.leave(0, incarnation=message.incarnation)
            )  # as if it had been silent

    driver.before = lose_trial_3
    slot(driver, ask_and_work, is_judged=True).run()
    told = [(record.number, record.state, record.value, record.attempt) for record in driver.book.told]
    assert told == [(3, TrialState.FINISHED, 3.0, 1), (4, TrialState.FINISHED, 4.0, 0)]


def test_a_slot_that_is_stopped_ends_its_trial_and_tells_nobody() -> None:
    driver = Driver(0, 9)
    stopping = slot(driver)

    def stop_with_trial_9(message: Message[Any]) -> None:
        if driver.book.asked == 2 and not isinstance(message, AskTrial):
            driver.service.stop("enough")

    driver.before = stop_with_trial_9
    assert stopping.run() == 1
    assert [(record.number, record.state) for record in driver.book.told] == [(0, TrialState.FINISHED)]
    assert len(records()) == 1


@pytest.mark.parametrize(
    ("function", "state", "value", "never_asked"),
    [(report_and_work, TrialState.FINISHED, 3.0, True), (ask_and_work, TrialState.PRUNED, -1.0, False)],
)
def test_a_trial_is_pruned_only_if_it_was_told_to_stop(
    function: Callable[..., Any], state: TrialState, value: float, never_asked: bool
) -> None:
    driver = Driver(3)
    driver.book.is_harsh = True
    slot(driver, function, is_judged=True).run()
    (record,) = driver.book.told
    assert (record.state, record.value, record.never_asked) == (state, value, never_asked)
