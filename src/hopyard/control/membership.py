"""Who is there: the processes that have come, and which of them have been silent for too long.

No I/O, no thread, no clock: the time comes with each event. A run (`hopyard.control.gang`) and a study
(`hopyard.control.queue`) decide what follows from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

LEAST_POLL_SECONDS = 0.02
LEAST_BEAT_SECONDS = 0.2
CALLS_PER_SECOND = 1000  # what the driver's end of the wire takes on one core with room to spare
QUIET_BEATS = 5
LEAST_QUIET_SECONDS = 2.0
LONGEST_LOOK_SECONDS = 5.0  # between two looks at the clock, unless this process was held up
SUSPICION = 3  # lasts so many times as long as a process may be quiet under it


class Admission(Enum):
    """Who it is that has come."""

    NEW = "new"  # nobody of this number is here
    AGAIN = "again"  # the process that is here already
    SECOND = "second"  # another one of the same number, and the first is alive: Spark speculates
    SUCCESSOR = "successor"  # another one of the same number, and the first has fallen silent
    REPLACED = "replaced"  # its successor is here


@dataclass(slots=True)
class _Process:
    incarnation: str
    heard: float


class Membership:
    """The processes that work for a driver, by number; each start of one has an incarnation of its own.

    Args:
        lease: Seconds without a word until a process counts as lost.
        size: How many are expected; many call less often.
        now: The time.
    """

    def __init__(self, lease: float, *, size: int = 1, now: float = 0.0) -> None:
        self._lease = lease
        self._size = size
        self._here: dict[int, _Process] = {}
        self._replaced: set[tuple[int, str]] = set()
        self._looked = now
        self._longest_look = min(LONGEST_LOOK_SECONDS, lease / 2)
        self._suspected_until = float("-inf")
        self._asleep = 0.0

    @property
    def asleep(self) -> float:
        """For how many seconds the driver itself has been held up so far (Ctrl-Z, say); that is nobody's silence."""
        return self._asleep

    @property
    def poll_seconds(self) -> float:
        """When a process that waits for something is to ask again."""
        return max(LEAST_POLL_SECONDS, 2 * self._many / CALLS_PER_SECOND)

    @property
    def beat_seconds(self) -> float:
        """When a process is to give its next heartbeat."""
        return max(LEAST_BEAT_SECONDS, self._many / CALLS_PER_SECOND)

    @property
    def quiet_seconds(self) -> float:
        """How long a process may be silent that there is reason to worry about."""
        return max(LEAST_QUIET_SECONDS, QUIET_BEATS * self.beat_seconds)

    @property
    def present(self) -> frozenset[int]:
        """The numbers of those who are here."""
        return frozenset(self._here)

    def is_here(self, number: int, incarnation: str) -> bool:
        """Whether this very process is here."""
        process = self._here.get(number)
        return process is not None and process.incarnation == incarnation

    def is_replaced(self, number: int, incarnation: str) -> bool:
        """Whether another process has taken the place of this one."""
        return (number, incarnation) in self._replaced

    def arrive(self, number: int, incarnation: str, now: float) -> Admission:
        """Lets a process in, unless the one that is here is alive; a successor takes the place at once."""
        self._look(now)
        if self.is_replaced(number, incarnation):
            return Admission.REPLACED
        here = self._here.get(number)
        if here is None:
            self._here[number] = _Process(incarnation, now)
            return Admission.NEW
        if here.incarnation == incarnation:
            here.heard = now
            return Admission.AGAIN
        if now - here.heard <= self.quiet_seconds:
            return Admission.SECOND
        self._replaced.add((number, here.incarnation))
        self._here[number] = _Process(incarnation, now)
        return Admission.SUCCESSOR

    def hear(self, number: int, incarnation: str, now: float) -> bool:
        """Takes a word of a process; returns whether it is the one that is here."""
        self._look(now)
        if not self.is_here(number, incarnation):
            return False
        self._here[number].heard = now
        return True

    def heard(self, number: int) -> float:
        """Returns when the process that is here was heard last."""
        return self._here[number].heard

    def leave(self, number: int, incarnation: str) -> None:
        """Records that a process has gone."""
        if self.is_here(number, incarnation):
            del self._here[number]

    def suspect(self, now: float) -> None:
        """Records that somebody was lost; for some seconds, who is silent counts as lost soon."""
        self._suspected_until = now + SUSPICION * self.quiet_seconds

    def silent(self, now: float) -> dict[int, str]:
        """Returns those that count as lost, each with its incarnation; `leave` lets them go."""
        self._look(now)
        longest = self.quiet_seconds if now <= self._suspected_until else self._lease
        return {
            number: process.incarnation
            for number, process in self._here.items()
            if now - process.heard > longest
        }

    def _look(self, now: float) -> None:
        """Excuses everybody for a time in which nobody here looked at the clock."""
        asleep = now - self._looked
        self._looked = now
        if asleep > self._longest_look:
            self._asleep += asleep
            for process in self._here.values():
                process.heard = min(now, process.heard + asleep)

    @property
    def _many(self) -> int:
        return max(self._size, len(self._here))
