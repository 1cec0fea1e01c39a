"""The policy of a study: each worker gets the next trial until there is none. Events in, instructions out.

No I/O, no thread, no clock: the time comes with each event. `hopyard.search.study.scheduler` stands between this, the wire,
and whoever chooses the next trial; who is alive, `hopyard.control.membership` knows.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopyard.control.membership import Admission, Membership
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.messages import NextTrial
from hopyard.protocol.node_status import Heartbeat
from hopyard.tracking import TrialRecord, TrialState

MOST_LOSSES = 3
DONE = "the study is done"
REPLACED = "Spark has started the slot again elsewhere"
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?(e-?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRules:
    """How far a study goes.

    Attributes:
        trials: How many trials it has; None for no limit.
        seconds: After which no trial begins any more; None for no limit.
        retries: How often a trial that failed is tried again.
        same_failures: If so many trials fail in the same way before any ends well, the study is given up.
        lease: Seconds without a word from a slot until it counts as lost.
    """

    trials: int | None = None
    seconds: float | None = None
    retries: int = 0
    same_failures: int = 3
    lease: float = 30.0


@dataclass(frozen=True, slots=True)
class ChooseTrial:
    """A new trial is to be chosen for the slot that asked, and given to it by `Queue.give`."""


@dataclass(slots=True, kw_only=True)
class SlotState:
    """What is known of a slot that is there."""

    number: int
    incarnation: str
    host: str
    since: float = 0.0
    trial: Assignment | None = None
    is_asking: bool = False  # its next trial is being chosen, which may take minutes
    heartbeat: Heartbeat = field(default_factory=Heartbeat)

    def runs(self, number: int) -> bool:
        """Whether the slot runs this trial."""
        return self.trial is not None and self.trial.number == number


class Queue:
    """Gives trials to slots so that each is run, and none is told twice; messages may come twice or late.

    Args:
        rules: How far the study goes.
        asked: How many trials there are already, ended or not.
        waiting: Trials that were under way when an earlier driver of the study died; they go first.
        now: The time.
    """

    def __init__(
        self, rules: StudyRules, *, asked: int = 0, waiting: Sequence[Assignment] = (), now: float = 0.0
    ) -> None:
        self._rules = rules
        self._asked = asked
        self._waiting = deque(waiting)
        self._membership = Membership(rules.lease, now=now)
        self._slots: dict[int, SlotState] = {}
        self._untold: list[TrialRecord] = []
        self._losses: Counter[int] = Counter()  # by the number of the trial, as the next one
        self._retries: Counter[int] = Counter()
        self._failures: Counter[str] = Counter()
        self._first_failures: dict[str, TrialRecord] = {}
        self._ends: Counter[TrialState] = Counter()
        self._last_failure: TrialRecord | None = None
        self._began = now
        self._leave: str | None = None

    @property
    def slots(self) -> tuple[SlotState, ...]:
        """The slots that are there, in the order of their numbers."""
        return tuple(self._slots[number] for number in sorted(self._slots))

    @property
    def ends(self) -> Mapping[TrialState, int]:
        """How many trials have ended since the start, by how."""
        return self._ends

    @property
    def failures(self) -> tuple[TrialRecord, ...]:
        """The first failure of each kind, in order."""
        return tuple(self._first_failures.values())

    @property
    def stopped(self) -> str | None:
        """Why the study has ended; None while it goes on."""
        return self._leave

    @property
    def hopeless(self) -> TrialRecord | None:
        """The last of the trials that made the study end because all failed in the same way; mostly None."""
        is_given_up = (
            not self._succeeded and max(self._failures.values(), default=0) >= self._rules.same_failures
        )
        return self._last_failure if is_given_up else None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do: all trials have ended, or the study was stopped."""
        return self._leave is not None

    @property
    def beat_seconds(self) -> float:
        """When a slot is to give its next heartbeat."""
        return self._membership.beat_seconds

    def next(self, number: int, *, incarnation: str, host: str, now: float) -> NextTrial | ChooseTrial:
        """Returns what a slot is to do.

        Args:
            number: Which slot it is.
            incarnation: What tells two starts of a slot apart; the later one counts.
            host: Where it is.
            now: The time.
        """
        admission = self._membership.arrive(number, incarnation, now)
        if admission is Admission.REPLACED:
            return NextTrial(leave=REPLACED)
        if admission is Admission.SECOND and self._leave is None:
            return NextTrial(
                again=self._membership.quiet_seconds / 4
            )  # Spark has started a slow task a second time
        if admission is Admission.SUCCESSOR:
            self._lose(number)
        slot = self._slots.get(number)
        if slot is None:
            slot = self._slots[number] = SlotState(number=number, incarnation=incarnation, host=host)
        return self._instruct(slot, now)

    def give(self, number: int, trial: Assignment | None, *, incarnation: str, now: float) -> NextTrial:
        """Gives a slot the trial that was chosen for it; None if there can be none before one under way has ended."""
        slot = self._slots.get(number)
        if slot is None or slot.incarnation != incarnation:  # lost meanwhile
            self._asked += trial is not None
            self._waiting.extend([trial] if trial is not None else [])
            return self._wait()
        slot.is_asking = False
        if trial is None:
            return self._wait()
        self._asked += 1
        return self._begin(slot, trial, now)

    def take(self, number: int, ended: TrialRecord, *, incarnation: str) -> None:
        """Takes the end of a trial once, from whoever brings it first."""
        is_lost = ended.state is TrialState.WAITING  # with an executor: nobody's fault, it runs again
        slot = self._slots.get(number)
        if slot is not None and slot.incarnation == incarnation and slot.runs(ended.number):
            assert slot.trial is not None
            trial, slot.trial = slot.trial, None
            if is_lost:
                self._run_again(trial, slot)
            else:
                self._end(trial, ended)
            return
        if is_lost:
            return  # the slot was taken for lost, too: the trial waits, or another slot has it
        for trial in self._waiting:
            if trial.number == ended.number:  # the slot was taken for lost, and nobody has its trial yet
                self._waiting.remove(trial)
                self._end(trial, ended)
                return

    def has(self, number: int, trial: int, *, incarnation: str, now: float) -> bool:
        """Takes a word of a slot; returns whether a trial is still its own."""
        self._membership.hear(number, incarnation, now)
        slot = self._slots.get(number)
        return slot is not None and slot.incarnation == incarnation and slot.runs(trial)

    def beat(self, number: int, heartbeat: Heartbeat, *, incarnation: str, now: float) -> str | None:
        """Records that a slot is alive; returns why it is to leave at once, if it is."""
        if self._membership.hear(number, incarnation, now) and number in self._slots:
            self._slots[number].heartbeat = heartbeat
        return REPLACED if self._membership.is_replaced(number, incarnation) else self._leave

    def leave(self, number: int, *, incarnation: str) -> None:
        """Records that a slot has ended; if it had a trial, another slot gets it."""
        if self._membership.is_here(number, incarnation):
            self._membership.leave(number, incarnation)
            self._lose(number)

    def suspect(self, now: float) -> None:
        """Records that Spark lost a task of the study: whoever is silent now is the one."""
        self._membership.suspect(now)

    def tick(self, now: float) -> None:
        """Looks at the clock: slots that were silent for too long are lost."""
        for number, incarnation in self._membership.silent(now).items():
            self._membership.leave(number, incarnation)
            self._lose(number)
        self._close_if_done(now)

    def stop(self, reason: str) -> None:
        """Ends the study: slots hear of it with their next call; what they run is not told of."""
        self._leave = self._leave or reason

    def untold(self) -> list[TrialRecord]:
        """Returns the ends of trials that whoever chooses the next ones has not been told of; each once."""
        untold, self._untold = self._untold, []
        return untold

    @property
    def _succeeded(self) -> int:
        return self._ends[TrialState.FINISHED] + self._ends[TrialState.PRUNED]

    def _instruct(self, slot: SlotState, now: float) -> NextTrial | ChooseTrial:
        if slot.trial is not None and self._leave is None:  # its answer got lost on the way
            return NextTrial(trial=slot.trial)
        if slot.is_asking and self._leave is None:  # so did this one's, or it asks again meanwhile
            return self._wait()
        slot.trial, slot.heartbeat = None, Heartbeat()
        self._close_if_done(now)
        if self._leave is not None:
            return NextTrial(leave=self._leave)
        if self._waiting:
            return self._begin(slot, self._waiting.popleft(), now)
        if self._may_begin(now):
            slot.is_asking = True
            return ChooseTrial()
        return self._wait()

    def _begin(self, slot: SlotState, trial: Assignment, now: float) -> NextTrial:
        slot.trial, slot.since, slot.heartbeat = trial, now, Heartbeat()
        return NextTrial(trial=trial)

    def _wait(self) -> NextTrial:
        return NextTrial(again=self._membership.poll_seconds)

    def _may_begin(self, now: float) -> bool:
        has_time = self._rules.seconds is None or now - self._began < self._rules.seconds
        asked = self._asked + sum(slot.is_asking for slot in self._slots.values())
        return has_time and (self._rules.trials is None or asked < self._rules.trials)

    def _close_if_done(self, now: float) -> None:
        if self.hopeless is not None:
            self.stop("all of its first trials failed in the same way")
        elif not self._waiting and not self._may_begin(now) and not self._is_any_running():
            self.stop(DONE)

    def _is_any_running(self) -> bool:
        return any(slot.trial is not None or slot.is_asking for slot in self._slots.values())

    def _end(self, trial: Assignment, record: TrialRecord) -> None:
        if record.state is TrialState.FAILED:
            if self._retries[trial.number] < self._rules.retries:
                self._retries[trial.number] += 1
                self._waiting.append(replace(trial, attempt=trial.attempt + 1))
                return
            self._failures[_kind(record)] += 1
            self._first_failures.setdefault(_kind(record), record)
            self._last_failure = record
        self._ends[record.state] += 1
        self._untold.append(record)

    def _lose(self, number: int) -> None:
        slot = self._slots.pop(number, None)
        if slot is not None and slot.trial is not None and self._leave is None:
            self._run_again(slot.trial, slot)

    def _run_again(self, trial: Assignment, slot: SlotState) -> None:
        self._losses[trial.number] += 1
        if self._losses[trial.number] > MOST_LOSSES:
            reason = (
                f"its executor was lost {MOST_LOSSES + 1} times (see Spark's log; often the memory limit)"
            )
            self._end(trial, _lost(trial, slot, reason))
        else:
            self._waiting.append(replace(trial, attempt=trial.attempt + 1))


def _lost(trial: Assignment, slot: SlotState, reason: str) -> TrialRecord:
    return TrialRecord(
        number=trial.number,
        params=trial.params,
        state=TrialState.FAILED,
        folder=trial.folder,
        attempt=trial.attempt,
        slot=slot.number,
        host=slot.host,
        error_type="ExecutorLost",
        error=reason,
    )


def _kind(record: TrialRecord) -> str:
    """Returns what is the same in errors of the same kind: numbers in their text may differ."""
    return f"{record.error_type}: {_NUMBERS.sub('#', record.error or '')}"
