"""Hears a trial: its output, what it reports, and its question whether to go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from hopyard.errors import BadMessage
from hopyard.protocol.channel import GO_ON, JUDGE, STOP, Reading, parse
from hopyard.protocol.messages import Verdict
from hopyard.search.trial.order import BEGUN, ENDED
from hopyard.search.trial.output import TrialOutput

if TYPE_CHECKING:
    from hopyard.protocol.messages import Point

REPORT_SECONDS = 0.05


class Listener(Protocol):
    """Who keeps what a trial prints and reports: a `NodeRecorder`."""

    def line(self, line: bytes) -> None:
        """Takes a line of output."""

    def message(self, line: bytes) -> None:
        """Takes a line from the channel."""


class TrialListener:
    """Sorts what comes from the process of a trial.

    Args:
        token: The line that marks the end of its output.
        listener: Keeps output and metrics.
        judge: Brings values to the driver; returns what is to become of the trial.
        answer: Tells the trial.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        token: str,
        listener: Listener,
        *,
        judge: Callable[[Sequence[Point]], Verdict],
        answer: Callable[[bytes], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._output = TrialOutput(token, listener.line)
        self._listener = listener
        self._judge = judge
        self._answer = answer
        self._clock = clock
        self._points: list[tuple[int, dict[str, float]]] = []
        self._told = float("-inf")
        self.has_begun = self.has_ended = False
        self.is_hopeless = False  # so said the pruner
        self.has_asked = False
        self.is_told = False  # that it is hopeless
        self.is_dropped = False  # it was told to end, though nobody has judged it
        self._is_unwanted = False

    @property
    def is_complete(self) -> bool:
        """Whether all is heard that there was."""
        return self.has_ended and self._output.is_complete

    def line(self, line: bytes) -> None:
        """Takes a line of output."""
        self._output.feed(line)

    def message(self, line: bytes) -> None:
        """Takes a line from the channel."""
        try:
            message = parse(line)
        except BadMessage:
            self._listener.message(line)  # which says so in the log
            return
        if isinstance(message, Reading):
            self._listener.message(line)
            self._collect(message)
        elif message.note == BEGUN:
            self.has_begun = True
        elif message.note == ENDED:
            self.has_ended = True
        elif message.note == JUDGE:
            self._tell(self._points)
            self.has_asked = True
            self.is_told = self.is_hopeless
            self.is_dropped = self._is_unwanted and not self.is_hopeless
            self._answer(STOP if self.is_hopeless or self.is_dropped else GO_ON)
        else:
            self._listener.message(line)

    def listen(self) -> bool:
        """Tells whether the trial has ended; brings values to the driver now and then.

        Those of the last step wait: more of them may be on their way, and one alone could be taken for the objective.
        """
        if len(self._points) > 1 and self._clock() - self._told > REPORT_SECONDS:
            self._tell(self._points[:-1])
        return self.has_ended

    def close(self) -> None:
        """Hands on what was held back."""
        self._tell(self._points)
        self._output.close()

    def _collect(self, reading: Reading) -> None:
        if self._points and self._points[-1][0] == reading.step:
            self._points[-1][1][reading.name] = reading.value
        else:
            self._points.append((reading.step, {reading.name: reading.value}))

    def _tell(self, points: Sequence[tuple[int, dict[str, float]]]) -> None:
        self._points = self._points[len(points) :]
        self._told = self._clock()
        if points:
            verdict = self._judge(points)
            self.is_hopeless = self.is_hopeless or verdict is Verdict.PRUNE
            self._is_unwanted = self._is_unwanted or verdict is Verdict.DROP
