"""Who tries what: slots ask for trials, report and tell; events in, instructions out.

No I/O, no thread, no clock: the time comes with each event. `hopyard.search.study.scheduler_service` stands between this
and the wire, and a `Book` knows which trial is next.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

from hopyard.protocol.node_status import Heartbeat
from hopyard.search.trial.assignment import Assignment
from hopyard.tracking import TrialRecord, TrialState

LEAST_POLL_SECONDS = 0.02
LEAST_BEAT_SECONDS = 0.2
CALLS_PER_SECOND = 1000
QUIET_SECONDS = 2.0  # of a slot, if Spark has lost a task
MOST_LOSSES = 3
DONE = "the study is done"
REPLACED = "Spark has started the slot again elsewhere"
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?(e-?\d+)?", re.IGNORECASE)

Point = tuple[int, Mapping[str, float]]


class Verdict(Enum):
    """What is to become of a trial after what it has reported."""

    GO_ON = "go on"
    PRUNE = "prune"  # the pruner says that it will not be among the best
    DROP = "drop"  # nobody waits for it here: it is no longer this slot's, or there is no driver


class Book(Protocol):
    """What is known of the trials of a study, and which is next."""

    @property
    def asked(self) -> int:
        """How many trials there are, ended or not."""

    def ask(self) -> Assignment | None:
        """Returns a new trial; None if there can be none before one that is under way has ended."""

    def report(self, number: int, points: Sequence[Point]) -> bool:
        """Takes values that a trial reported; returns whether it is to be stopped."""

    def tell(self, record: TrialRecord) -> None:
        """Takes what came of a trial."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What a slot is to do next: run a trial, or ask again after some seconds, or leave.

    Attributes:
        trial: The trial to run.
        again: When to ask again; counts if there is no trial.
        leave: Why to leave; None to stay.
    """

    trial: Assignment | None = None
    again: float = 0.0
    leave: str | None = None


@dataclass(slots=True, kw_only=True)
class SlotState:
    """What is known of a slot that is there."""

    number: int
    host: str
    heard: float
    since: float = 0.0
    trial: Assignment | None = None
    sign: Heartbeat = field(default_factory=Heartbeat)


class TrialScheduler:
    """Gives trials to slots so that each is run, and none is told twice; messages may come twice or late.

    Args:
        book: What is known of the trials.
        rules: How far the study goes.
        waiting: Trials that were under way when an earlier driver of the study died; they go first.
        now: The time.
    """

    def __init__(
        self, book: Book, rules: StudyRules, *, waiting: Sequence[Assignment] = (), now: float = 0.0
    ) -> None:
        self._book = book
        self._rules = rules
        self._waiting = deque(waiting)
        self._slots: dict[str, SlotState] = {}  # by life
        self._replaced: set[str] = set()
        self._losses: Counter[int] = Counter()  # by the number of the trial, as the next one
        self._retries: Counter[int] = Counter()
        self._failures: Counter[str] = Counter()
        self._first_failures: dict[str, TrialRecord] = {}
        self._ends: Counter[TrialState] = Counter()
        self._last_failure: TrialRecord | None = None
        self._began = now
        self._leave: str | None = None
        self._is_suspected = False

    @property
    def slots(self) -> Mapping[str, SlotState]:
        """The slots that are there, by the life that each has."""
        return self._slots

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

    def next(
        self, number: int, *, incarnation: str, host: str, ended: TrialRecord | None, now: float
    ) -> Instruction:
        """Takes the end of a slot's trial, if it had one; returns what the slot is to do.

        Args:
            number: Which slot it is.
            incarnation: What tells two starts of a slot apart; the later one counts.
            host: Where it is.
            ended: What came of its trial.
            now: The time.
        """
        if incarnation in self._replaced:
            return Instruction(leave=REPLACED)
        if incarnation not in self._slots and self._leave is None and self._is_alive(number, now):
            return Instruction(again=QUIET_SECONDS / 4)  # Spark has started a slow task a second time
        slot = self._slots.get(incarnation) or self._admit(number, incarnation, host)
        slot.heard = now
        if ended is not None:
            self._take(slot, ended)
        if slot.trial is not None and self._leave is None:  # its answer got lost on the way
            return Instruction(trial=slot.trial)
        instruction = self._instruct(now)
        slot.trial, slot.since, slot.sign = instruction.trial, now, Heartbeat()
        return instruction

    def report(self, incarnation: str, number: int, points: Sequence[Point], *, now: float) -> Verdict:
        """Takes values that a trial reported; returns what is to become of it."""
        slot = self._slots.get(incarnation)
        if slot is None or slot.trial is None or slot.trial.number != number:
            return Verdict.DROP  # it was given to another slot
        slot.heard = now
        return Verdict.PRUNE if self._book.report(number, points) else Verdict.GO_ON

    def beat(self, incarnation: str, sign: Heartbeat, *, now: float) -> str | None:
        """Takes note that a slot is alive; returns why it is to leave at once, if it is."""
        slot = self._slots.get(incarnation)
        if slot is not None:
            slot.heard, slot.sign = now, sign
        return REPLACED if incarnation in self._replaced else self._leave

    def leave(self, incarnation: str) -> None:
        """Takes note that a slot has ended; if it had a trial, another slot gets it."""
        self._lose(incarnation)

    def _is_alive(self, number: int, now: float) -> bool:
        return any(
            slot.number == number and now - slot.heard <= QUIET_SECONDS for slot in self._slots.values()
        )

    def _admit(self, number: int, incarnation: str, host: str) -> SlotState:
        """Lets a slot in that is new, or was taken for lost; an earlier start of the same slot is gone then."""
        for earlier in [key for key, slot in self._slots.items() if slot.number == number]:
            self._replaced.add(earlier)
            self._lose(earlier)
        return self._slots.setdefault(incarnation, SlotState(number=number, host=host, heard=0.0))

    def _take(self, slot: SlotState, ended: TrialRecord) -> None:
        """Takes the end of a trial once, from whoever brings it first."""
        if slot.trial is not None and slot.trial.number == ended.number:
            trial, slot.trial = slot.trial, None
            self._end(trial, ended)
            return
        for trial in self._waiting:
            if trial.number == ended.number:  # the slot was taken for lost, and nobody has its trial yet
                self._waiting.remove(trial)
                self._end(trial, ended)
                return

    def suspect(self) -> None:
        """Takes note that Spark lost a task of the study: whoever is silent now is the one."""
        self._is_suspected = True

    def tick(self, now: float) -> None:
        """Looks at the clock: slots that were silent for too long are lost."""
        longest = QUIET_SECONDS if self._is_suspected else self._rules.lease
        silent = [incarnation for incarnation, slot in self._slots.items() if now - slot.heard > longest]
        for incarnation in silent:
            self._lose(incarnation)
        self._is_suspected = self._is_suspected and not silent
        self._close_if_done(now)

    def stop(self, reason: str) -> None:
        """Ends the study: slots hear of it with their next call; what they run is not told of."""
        self._leave = self._leave or reason

    @property
    def beat_seconds(self) -> float:
        """When a slot is to give the next sign of life."""
        return max(LEAST_BEAT_SECONDS, len(self._slots) / CALLS_PER_SECOND)

    @property
    def _succeeded(self) -> int:
        return self._ends[TrialState.FINISHED] + self._ends[TrialState.PRUNED]

    def _instruct(self, now: float) -> Instruction:
        self._close_if_done(now)
        if self._leave is not None:
            return Instruction(leave=self._leave)
        trial = self._waiting.popleft() if self._waiting else None
        if trial is None and self._may_begin(now):
            trial = self._book.ask()
        if trial is not None:
            return Instruction(trial=trial)
        return Instruction(again=max(LEAST_POLL_SECONDS, 2 * len(self._slots) / CALLS_PER_SECOND))

    def _may_begin(self, now: float) -> bool:
        has_time = self._rules.seconds is None or now - self._began < self._rules.seconds
        return has_time and (self._rules.trials is None or self._book.asked < self._rules.trials)

    def _close_if_done(self, now: float) -> None:
        if self.hopeless is not None:
            self.stop("all of its first trials failed in the same way")
        elif not self._waiting and not self._may_begin(now) and not self._is_any_running():
            self.stop(DONE)

    def _is_any_running(self) -> bool:
        return any(slot.trial is not None for slot in self._slots.values())

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
        self._book.tell(record)

    def _lose(self, incarnation: str) -> None:
        slot = self._slots.pop(incarnation, None)
        if slot is None or slot.trial is None or self._leave is not None:
            return
        trial = slot.trial
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
