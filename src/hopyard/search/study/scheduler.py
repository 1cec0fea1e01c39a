"""Gives trials to slots: the queue of a study, with Optuna behind it, that threads may share and that speaks in messages."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hopyard.control.queue import ChooseTrial, Queue
from hopyard.control.service import PoolService
from hopyard.errors import UnknownMethod
from hopyard.protocol.messages import (
    Answer,
    AskTrial,
    Beat,
    Judgement,
    Left,
    Message,
    NextTrial,
    Noted,
    Reply,
    ReportTrial,
    Verdict,
)

if TYPE_CHECKING:
    from hopyard.protocol.assignment import Assignment
    from hopyard.protocol.messages import Point
    from hopyard.tracking import TrialRecord

LOG = logging.getLogger(__name__)
STORE_SECONDS = 1.0
REPORT_SECONDS = 5.0
LONGEST_AWAY_SECONDS = 600.0
Seen = TypeVar("Seen")


class Trials(Protocol):
    """What is known of the trials of a study, and which is next: `StudyTrials`, or numbers in tests."""

    def ask(self) -> Assignment | None:
        """Returns a new trial; None if there can be none before one that is under way has ended."""

    def report(self, number: int, points: Sequence[Point]) -> bool:
        """Takes values that a trial reported; returns whether it is to be stopped."""

    def tell(self, record: TrialRecord) -> None:
        """Takes what came of a trial."""


class TrialScheduler(PoolService):
    """A queue of trials that threads may share, and that speaks in messages.

    What was decided is in the store before it is told: a driver that dies is followed by one that knows. Two locks: a sampler
    may think for minutes, and heartbeats are answered meanwhile, so that no slot counts as lost for it.

    Args:
        queue: Who tries what.
        trials: Chooses trials, and is told of their ends; one thread at a time.
        commit: Makes all that was decided so far safe.
        clock: Seconds that only grow.
        report_seconds: How long a trial waits for its verdict while a sampler thinks.
    """

    def __init__(
        self,
        queue: Queue,
        trials: Trials,
        *,
        commit: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        report_seconds: float = REPORT_SECONDS,
    ) -> None:
        super().__init__()
        self._queue = queue
        self._trials = trials
        self._commit = commit
        self._clock = clock
        self._report_seconds = report_seconds
        self._lock = threading.Lock()  # of the queue; held for microseconds
        self._thinking = threading.Lock()  # of the trials; never taken by who holds the other one
        self._unreported: dict[int, list[Point]] = {}
        self._error: Exception | None = None
        self._away_since: float | None = None

    @property
    def error(self) -> Exception | None:
        """What made it impossible to go on: of the sampler, the pruner or the store."""
        return self._error

    def answer(self, message: Message[Any]) -> Answer:
        """Answers a slot."""
        try:
            return self._respond(message)
        except UnknownMethod:
            raise
        except Exception as error:  # the edge of a thread of the wire
            LOG.debug("a slot was not answered", exc_info=True)
            self.give_up(error)
            return _farewell(message, str(error))

    def look(self, at: Callable[[Queue], Seen]) -> Seen:
        """Returns what a function sees of the queue while nobody changes it."""
        with self._lock:
            return at(self._queue)

    def suspect(self) -> None:
        """Hears that the backend has lost a slot; those that stay silent count as lost soon."""
        with self._lock:
            self._queue.suspect(self._clock())

    def give_up(self, error: Exception) -> None:
        """Ends the study, unless it has ended: it cannot go on."""
        with self._lock:
            if not self._queue.is_over:
                self._error = self._error or error
                self._queue.stop(f"the driver could not go on: {error}")
        self.news.set()

    @property
    def is_ending(self) -> bool:
        """Whether slots are told to leave."""
        with self._lock:
            return self._queue.is_over

    @property
    def awaits_workers(self) -> bool:
        """Always: as long as the study goes on, each slot counts."""
        return True

    @property
    def progress(self) -> int:
        """How many trials have ended."""
        with self._lock:
            return sum(self._queue.ends.values())

    def tick(self) -> bool:
        """Looks at the clock; returns whether the study is over."""
        with self._lock:
            self._queue.tick(self._clock())
            return self._queue.is_over

    def settle(self) -> None:
        """Tells the ends of trials that nobody was told of; for the end of the study."""
        with self._thinking:
            self._tell()

    def stop(self, reason: str) -> None:
        """Ends the study."""
        with self._lock:
            self._queue.stop(reason)
        self.news.set()

    def _respond(self, message: Message[Any]) -> Answer:
        match message:
            case AskTrial():
                return self._next(message)
            case ReportTrial():
                return Judgement(verdict=self._judge(message))
            case Beat(number=slot, incarnation=incarnation, heartbeat=heartbeat):
                with self._lock:
                    stop = self._queue.beat(slot, heartbeat, incarnation=incarnation, now=self._clock())
                    return Reply(again=self._queue.beat_seconds, stop=stop)
            case Left(number=slot, incarnation=incarnation):
                with self._lock:
                    self._queue.leave(slot, incarnation=incarnation)
                self.news.set()
                return Noted()
        raise UnknownMethod(type(message).__name__)

    def _next(self, message: AskTrial) -> NextTrial:
        slot, incarnation = message.number, message.incarnation
        with self._lock:
            if message.ended is not None:
                self._queue.take(slot, message.ended, incarnation=incarnation)
            chosen = self._queue.next(slot, incarnation=incarnation, host=message.host, now=self._clock())
        if isinstance(chosen, ChooseTrial):
            chosen = self._choose(slot, incarnation)
        elif not self._is_told():
            chosen = NextTrial(again=STORE_SECONDS)
        if chosen.leave is not None:
            self.news.set()
        return chosen

    def _choose(self, slot: int, incarnation: str) -> NextTrial:
        """Has a trial chosen for a slot; others are answered meanwhile."""
        with self._thinking:
            self._tell()  # first: what the last trials came to is to be known to the sampler
            trial = self._trials.ask()
        with self._lock:
            chosen = self._queue.give(slot, trial, incarnation=incarnation, now=self._clock())
        return chosen if self._is_committed() else NextTrial(again=STORE_SECONDS)

    def _judge(self, message: ReportTrial) -> Verdict:
        """Brings values to the pruner; while a sampler thinks, they are kept for later and the trial goes on."""
        slot, number, incarnation = message.number, message.trial, message.incarnation
        with self._lock:
            if not self._queue.has(slot, number, incarnation=incarnation, now=self._clock()):
                return Verdict.DROP  # it was given to another slot
            self._unreported.setdefault(number, []).extend(message.points)
        if not self._thinking.acquire(timeout=self._report_seconds):
            return Verdict.GO_ON
        try:
            return Verdict.PRUNE if self._report(number) else Verdict.GO_ON
        finally:
            self._thinking.release()

    def _report(self, number: int) -> bool:
        """Reports what a trial has said and nobody was told of; who calls holds `_thinking`."""
        with self._lock:
            points = self._unreported.pop(number, [])
        return bool(points) and self._trials.report(number, points)

    def _tell(self) -> None:
        """Tells the ends of trials; who calls holds `_thinking`."""
        with self._lock:
            untold = self._queue.untold()
        for record in untold:
            self._report(record.number)
            self._trials.tell(record)

    def _is_told(self) -> bool:
        """Makes what was decided safe, and the sampler know of it if it does not think just now."""
        if self._thinking.acquire(blocking=False):
            try:
                self._tell()
            finally:
                self._thinking.release()
        return self._is_committed()

    def _is_committed(self) -> bool:
        """Makes what was decided safe; a store that is away for a while is asked again with the slot's next call."""
        try:
            self._commit()
        except OSError as error:
            now = self._clock()
            self._away_since = now if self._away_since is None else self._away_since
            if now - self._away_since > LONGEST_AWAY_SECONDS:
                raise
            LOG.warning("the study waits for its store: %s", error)
            return False
        self._away_since = None
        return True


def _farewell(message: Message[Any], reason: str) -> Answer:
    """Returns what a slot is told that cannot be answered: to leave, and nothing about its trial."""
    match message:
        case AskTrial():
            return NextTrial(leave=reason)
        case ReportTrial():
            return Judgement(verdict=Verdict.DROP)
        case Beat():
            return Reply(again=STORE_SECONDS, stop=reason)
    return Noted()
