"""The driver's end of a study: a desk that threads may share, and that speaks in messages."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hopyard.codec.records import decode
from hopyard.errors import UnknownMethod
from hopyard.search.study.scheduler import TrialScheduler, Verdict
from hopyard.tracking import TrialRecord
from hopyard.wire import Service
from hopyard.worker.lease import HEARTBEAT, parse_heartbeat

if TYPE_CHECKING:
    from hopyard.wire import Json

LOG = logging.getLogger(__name__)
NEXT, REPORT, LEAVE = "next", "report", "leave"
STORE_SECONDS = 1.0
Seen = TypeVar("Seen")
LONGEST_AWAY_SECONDS = 600.0


class SchedulerService(Service):
    """Serves a desk on the wire, or to whoever calls it directly.

    What was decided is in the store before it is told: a driver that dies is followed by one that knows.

    Args:
        desk: Who tries what.
        commit: Makes all that was decided so far safe.
        clock: Seconds that only grow.
    """

    def __init__(
        self, desk: TrialScheduler, *, commit: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._desk = desk
        self._commit = commit
        self._clock = clock
        self._lock = threading.RLock()
        self._error: Exception | None = None
        self._away_since: float | None = None
        self._over = threading.Event()
        self.news = threading.Event()

    @property
    def error(self) -> Exception | None:
        """What made it impossible to go on: of the sampler, the pruner or the store."""
        return self._error

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a slot."""
        try:
            return self._answer(method, message)
        except UnknownMethod:
            raise
        except Exception as error:  # the edge of a thread of the wire
            LOG.debug("a slot was not answered", exc_info=True)
            with self._lock:
                self._error = self._error or error
                self._desk.stop(f"the driver could not go on: {error}")
            self.news.set()
            if method == NEXT:
                return {"trial": None, "again": 0.0, "leave": str(error)}
            return {"verdict": Verdict.DROP.value} if method == REPORT else {}

    def look(self, at: Callable[[TrialScheduler], Seen]) -> Seen:
        """Returns what a function sees of the desk while nobody changes it."""
        with self._lock:
            return at(self._desk)

    def tick(self) -> bool:
        """Looks at the clock; returns whether the study is over."""
        with self._lock:
            self._desk.tick(self._clock())
            return self._desk.is_over

    def wait(self, seconds: float) -> None:
        """Lets some seconds pass, or less if the study ends meanwhile."""
        self._over.wait(seconds)

    def stop(self, reason: str) -> None:
        """Ends the study."""
        with self._lock:
            self._desk.stop(reason)
        self._over.set()
        self.news.set()

    def _answer(self, method: str, message: Mapping[str, Any]) -> Mapping[str, Json]:
        incarnation, now = str(message["incarnation"]), self._clock()
        if method == NEXT:
            return self._next(message)
        with self._lock:
            if method == REPORT:
                points = [(int(step), metrics) for step, metrics in message["points"]]
                return {"verdict": self._desk.report(incarnation, message["number"], points, now=now).value}
            if method == HEARTBEAT:
                stop = self._desk.beat(incarnation, parse_heartbeat(message), now=now)
                return {"again": self._desk.beat_seconds, "members": None, "stop": stop, "release": None}
            if method == LEAVE:
                self._desk.leave(incarnation)
                self.news.set()
                return {}
        raise UnknownMethod(method)

    def _next(self, message: Mapping[str, Any]) -> Mapping[str, Json]:
        ended = message["ended"]
        record = None if ended is None else decode(TrialRecord, ended.encode(), "the end of a trial")
        with self._lock:
            instruction = self._desk.next(
                message["slot"],
                incarnation=message["incarnation"],
                host=message["host"],
                ended=record,
                now=self._clock(),
            )
        if not self._is_committed():
            return {"trial": None, "again": STORE_SECONDS, "leave": None}
        if instruction.leave is not None:
            self.news.set()
        trial: Any = None if instruction.trial is None else instruction.trial.to_json()
        return {"trial": trial, "again": instruction.again, "leave": instruction.leave}

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
