from __future__ import annotations

from collections.abc import Sequence

import pytest

from hopyard.control.membership import LEAST_QUIET_SECONDS, SUSPICION
from hopyard.control.queue import DONE, MOST_LOSSES, ChooseTrial, Queue, StudyRules
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.messages import NextTrial
from hopyard.protocol.node_status import Heartbeat
from hopyard.tracking import TrialRecord, TrialState

pytestmark = pytest.mark.unit

QUIET_SECONDS = LEAST_QUIET_SECONDS


class Trials:
    """Trials that are numbers."""

    def __init__(self) -> None:
        self.asked = 0
        self.told: list[TrialRecord] = []
        self.is_ready = True

    def ask(self) -> Assignment | None:
        if not self.is_ready:
            return None
        self.asked += 1
        return assignment(self.asked - 1)


def assignment(number: int, attempt: int = 0) -> Assignment:
    return Assignment.of(number, params={"x": number}, arguments={}, folder=f"x={number}", attempt=attempt)


def ended(number: int, state: TrialState = TrialState.FINISHED, error: str | None = None) -> TrialRecord:
    values = (1.0,) if state is TrialState.FINISHED else ()
    return TrialRecord(number=number, params={"x": number}, state=state, values=values, error=error)


class Office:
    """A queue, who chooses its trials, and the time."""

    def __init__(self, waiting: Sequence[Assignment] = (), **rules: object) -> None:
        self.trials = Trials()
        self.queue = Queue(StudyRules(**rules), waiting=waiting)  # type: ignore[arg-type]
        self.now = 0.0

    def next(
        self, slot: int, record: TrialRecord | None = None, *, incarnation: str | None = None
    ) -> NextTrial:
        incarnation = incarnation or f"life-{slot}"
        if record is not None:
            self.queue.take(slot, record, incarnation=incarnation)
            self.trials.told += self.queue.untold()
        answer = self.queue.next(slot, incarnation=incarnation, host="host", now=self.now)
        if isinstance(answer, NextTrial):
            return answer
        return self.queue.give(slot, self.trials.ask(), incarnation=incarnation, now=self.now)

    def number(
        self, slot: int, record: TrialRecord | None = None, *, incarnation: str | None = None
    ) -> int | None:
        trial = self.next(slot, record, incarnation=incarnation).trial
        return None if trial is None else trial.number

    def beat(self, slot: int) -> str | None:
        return self.queue.beat(slot, Heartbeat(), incarnation=f"life-{slot}", now=self.now)

    def has(self, slot: int, trial: int) -> bool:
        return self.queue.has(slot, trial, incarnation=f"life-{slot}", now=self.now)

    def pass_time(self, seconds: float, *alive: int) -> None:
        """Lets time pass as it does in a driver that looks at the clock every second."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 1)
            for slot in alive:
                self.beat(slot)
            self.queue.tick(self.now)
        self.trials.told += self.queue.untold()

    def numbers_told(self) -> list[int]:
        return [record.number for record in self.trials.told]


def test_each_slot_gets_a_trial_of_its_own() -> None:
    office = Office(trials=5)
    assert [office.number(slot) for slot in range(3)] == [0, 1, 2]


def test_the_end_of_a_trial_is_told_once_and_the_next_one_begins() -> None:
    office = Office(trials=5)
    office.next(0)
    assert office.number(0, ended(0)) == 1
    assert office.number(0, ended(0)) == 1  # the answer got lost, and the slot asks again
    assert office.numbers_told() == [0]


def test_slots_leave_when_all_trials_have_ended() -> None:
    office = Office(trials=2)
    office.next(0), office.next(1)
    waiting = office.next(0, ended(0))
    assert waiting.trial is None
    assert waiting.leave is None
    assert waiting.again > 0
    assert office.next(1, ended(1)).leave == DONE
    assert office.next(0).leave == DONE
    assert office.queue.is_over


def test_a_slot_waits_while_there_can_be_no_next_trial() -> None:
    office = Office(trials=5)
    office.trials.is_ready = False
    assert office.next(0).again > 0
    office.trials.is_ready = True
    assert office.number(0) == 0


def test_a_silent_slot_is_lost_and_its_trial_given_to_another_one() -> None:
    office = Office(trials=2, lease=30.0)
    office.next(0), office.next(1)
    office.pass_time(31, 1)
    again = office.next(1, ended(1)).trial
    assert again is not None
    assert (again.number, again.attempt) == (0, 1)


def test_a_slot_that_was_taken_for_lost_may_bring_its_result_while_nobody_else_has_the_trial() -> None:
    office = Office(trials=2, lease=30.0)
    office.next(0)
    office.pass_time(31)
    assert office.number(0, ended(0)) == 1
    assert office.numbers_told() == [0]


def test_a_slot_that_was_taken_for_lost_is_not_heard_once_another_one_has_its_trial() -> None:
    office = Office(trials=2, lease=30.0)
    office.next(0)
    office.pass_time(31)
    assert office.number(1) == 0
    office.next(0, ended(0))
    assert office.numbers_told() == []
    office.next(1, ended(0))
    assert office.numbers_told() == [0]


def test_a_slot_that_spark_started_again_takes_the_place_of_its_earlier_start() -> None:
    office = Office(trials=3)
    office.next(0)
    office.now += QUIET_SECONDS + 0.1
    again = office.next(0, incarnation="later").trial
    assert again is not None
    assert (again.number, again.attempt) == (0, 1)
    assert office.next(0).leave is not None
    assert office.beat(0) is not None


def test_a_second_start_waits_while_the_first_one_is_alive() -> None:
    office = Office(trials=3)
    office.next(0)
    office.pass_time(QUIET_SECONDS, 0)
    waiting = office.next(0, incarnation="speculative")
    assert waiting.trial is None
    assert waiting.again > 0
    assert office.number(0, ended(0)) == 1
    office.queue.stop(DONE)
    assert office.next(0, incarnation="speculative").leave == DONE


def test_a_lost_task_of_spark_makes_silence_suspicious_after_seconds() -> None:
    office = Office(trials=3, lease=30.0)
    office.next(0), office.next(1)
    office.queue.suspect(office.now)
    office.pass_time(QUIET_SECONDS + 0.1, 1)
    assert [slot.number for slot in office.queue.slots] == [1]


def test_all_slots_of_a_lost_executor_are_found() -> None:
    office = Office(trials=3, lease=30.0)
    office.next(0)
    office.now += 0.5
    office.next(1)
    office.queue.suspect(office.now)
    office.pass_time(QUIET_SECONDS + 0.5)
    assert office.queue.slots == ()


def test_a_suspicion_passes() -> None:
    office = Office(trials=3, lease=30.0)
    office.next(0)
    office.queue.suspect(office.now)
    office.pass_time(SUSPICION * QUIET_SECONDS, 0)
    office.pass_time(QUIET_SECONDS + 1)
    assert [slot.number for slot in office.queue.slots] == [0]


def test_a_driver_that_was_held_up_loses_no_slot_and_no_trial() -> None:
    office = Office(trials=3, lease=10.0)
    office.next(0), office.next(1)
    office.now += 600  # Ctrl-Z, or a closed lid: nobody looked at the clock
    office.queue.tick(office.now)
    assert [slot.number for slot in office.queue.slots] == [0, 1]
    assert office.number(0, ended(0)) == 2
    assert office.numbers_told() == [0]


def test_a_slot_whose_trial_is_being_chosen_is_there_and_asks_in_vain_meanwhile() -> None:
    office = Office(trials=1, lease=30.0)
    assert office.queue.next(0, incarnation="life-0", host="host", now=0.0) == ChooseTrial()
    for slot in (0, 1):  # there is only one trial
        again = office.queue.next(slot, incarnation=f"life-{slot}", host="host", now=1.0)
        assert isinstance(again, NextTrial)
        assert (again.trial, again.leave) == (None, None)
        assert again.again > 0
    assert not office.queue.is_over
    office.queue.give(0, assignment(0), incarnation="life-0", now=2.0)
    assert office.number(0) == 0


def test_a_trial_that_was_chosen_for_a_slot_that_is_lost_goes_to_another_one() -> None:
    office = Office(trials=1, lease=30.0)
    office.queue.next(0, incarnation="life-0", host="host", now=0.0)
    office.pass_time(31)
    office.queue.give(0, assignment(0), incarnation="life-0", now=office.now)
    assert office.number(1) == 0


def test_a_trial_that_loses_its_executor_again_and_again_has_failed() -> None:
    office = Office(trials=1, lease=30.0, same_failures=5)
    for _ in range(MOST_LOSSES + 1):
        assert office.number(0) == 0
        office.pass_time(31)
    assert office.next(0).leave == DONE
    assert [record.state for record in office.trials.told] == [TrialState.FAILED]
    assert "executor was lost" in str(office.trials.told[0].error)


def test_a_trial_that_comes_back_from_a_lost_executor_runs_again_and_nobody_is_told() -> None:
    office = Office(trials=2)
    office.next(0)
    again = office.next(0, ended(0, TrialState.WAITING)).trial
    assert again is not None
    assert (again.number, again.attempt) == (0, 1)
    assert office.numbers_told() == []
    assert office.queue.ends == {}
    assert office.number(0, ended(0)) == 1
    assert office.numbers_told() == [0]


def test_a_trial_that_comes_back_may_go_to_another_slot() -> None:
    office = Office(trials=2)
    office.next(0), office.next(1)
    office.queue.take(0, ended(0, TrialState.WAITING), incarnation="life-0")
    assert office.number(1, ended(1)) == 0
    assert office.next(0).trial is None


def test_a_trial_that_comes_back_again_and_again_has_failed() -> None:
    office = Office(trials=1, same_failures=5)
    office.next(0)
    for attempt in range(1, MOST_LOSSES + 1):
        again = office.next(0, ended(0, TrialState.WAITING)).trial
        assert again is not None
        assert again.attempt == attempt
    assert office.next(0, ended(0, TrialState.WAITING)).leave == DONE
    (record,) = office.trials.told
    assert (record.state, record.attempt) == (TrialState.FAILED, MOST_LOSSES)
    assert f"its executor was lost {MOST_LOSSES + 1} times" in str(record.error)


def test_losses_of_a_slot_and_of_a_cluster_count_together() -> None:
    office = Office(trials=1, lease=30.0, same_failures=5)
    office.next(0)
    office.next(0, ended(0, TrialState.WAITING))
    office.pass_time(31)
    assert office.number(0) == 0
    office.next(0, ended(0, TrialState.WAITING))
    assert office.next(0, ended(0, TrialState.WAITING)).leave == DONE
    assert [record.state for record in office.trials.told] == [TrialState.FAILED]


def test_trials_that_come_back_do_not_use_up_retries() -> None:
    office = Office(trials=1, retries=1)
    office.next(0)
    assert office.number(0, ended(0, TrialState.WAITING)) == 0
    assert office.number(0, ended(0, TrialState.FAILED, "boom")) == 0
    assert office.next(0, ended(0)).leave == DONE


def test_a_trial_that_comes_back_after_its_slot_was_taken_for_lost_waits_already() -> None:
    office = Office(trials=1, lease=30.0)
    office.next(0)
    office.pass_time(31)
    assert office.number(0, ended(0, TrialState.WAITING)) == 0
    assert office.numbers_told() == []


def test_a_trial_that_comes_back_when_the_study_is_stopped_is_not_told() -> None:
    office = Office(trials=2)
    office.next(0)
    office.queue.stop("enough")
    assert office.next(0, ended(0, TrialState.WAITING)).leave == "enough"
    assert office.numbers_told() == []


def test_a_failed_trial_is_tried_again_as_often_as_it_may() -> None:
    office = Office(trials=1, retries=2)
    attempts = []
    record = None
    while (trial := office.next(0, record).trial) is not None:
        attempts.append(trial.attempt)
        record = ended(0, TrialState.FAILED, "boom")
    assert attempts == [0, 1, 2]
    assert office.numbers_told() == [0]


def test_losses_do_not_use_up_retries() -> None:
    office = Office(trials=1, retries=1, lease=30.0)
    office.next(0)
    office.pass_time(31)
    assert office.number(0) == 0
    assert office.number(0, ended(0, TrialState.FAILED, "boom")) == 0
    assert office.next(0, ended(0)).leave == DONE


def test_a_study_whose_first_trials_fail_in_the_same_way_is_given_up() -> None:
    office = Office(trials=100, same_failures=3)
    office.next(0)
    for number in range(2):
        assert office.number(0, ended(number, TrialState.FAILED, f"no file part-{number}.csv")) == number + 1
    assert office.next(0, ended(2, TrialState.FAILED, "no file part-2.csv")).leave is not None
    assert office.queue.hopeless is not None


@pytest.mark.parametrize("errors", [["a", "b", "c"], [None, "a", "a"]], ids=["differ", "one ended well"])
def test_other_failures_do_not_end_a_study(errors: list[str | None]) -> None:
    office = Office(trials=100, same_failures=3)
    office.next(0)
    for number, error in enumerate(errors):
        state = TrialState.FINISHED if error is None else TrialState.FAILED
        assert office.number(0, ended(number, state, error)) == number + 1
    assert office.queue.hopeless is None


def test_after_the_time_of_the_study_no_trial_begins_and_those_under_way_are_waited_for() -> None:
    office = Office(seconds=10.0)
    office.next(0), office.next(1)
    office.pass_time(11, 0, 1)
    assert office.next(0, ended(0)).trial is None
    assert not office.queue.is_over
    assert office.next(1, ended(1)).leave == DONE


def test_a_trial_that_was_given_to_another_slot_is_no_longer_its_own() -> None:
    office = Office(trials=2, lease=30.0)
    office.next(0)
    assert office.has(0, 0)
    office.pass_time(31)
    assert not office.has(0, 0)


def test_trials_of_an_earlier_driver_go_first() -> None:
    office = Office(waiting=[assignment(7, attempt=1)], trials=10)
    assert office.number(0) == 7
    assert office.number(1) == 0


def test_a_stopped_study_tells_slots_to_leave_with_their_next_sign() -> None:
    office = Office(trials=2)
    office.next(0)
    office.queue.stop("enough")
    assert office.beat(0) == "enough"
    assert office.next(0).leave == "enough"


def test_a_trial_that_ended_while_the_study_was_stopped_is_told_all_the_same() -> None:
    office = Office(trials=2)
    office.next(0)
    office.queue.stop("enough")
    assert office.next(0, ended(0)).leave == "enough"
    assert office.numbers_told() == [0]
