"""Whether Spark's scheduler goes on: one thread of its driver does all that is to be done, in turn."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hopyard.errors import SchedulerHangs

if TYPE_CHECKING:
    from pyspark import SparkContext

LOG = logging.getLogger(__name__)
THREAD = "dag-scheduler-event-loop"
SPARK = "org.apache.spark."
BUSY = "org.apache.spark.scheduler.DAGSchedulerEventProcessLoop.onReceive"  # a frame that is there while the thread has something to do
LOOK_SECONDS = 1.0
FRAMES = 64


class SchedulerWatch:
    """Notices a scheduler that does not come out of one call: then no job of the application begins or ends any more.

    Args:
        context: The Spark application.
        seconds: How long it may stand at the same place.
        clock: Seconds that only grow.
    """

    def __init__(
        self, context: SparkContext, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._context = context
        self._seconds = seconds
        self._clock = clock
        self._thread: int | None = None
        self._stack: tuple[str, ...] = ()
        self._since = self._looked = clock()

    def look(self) -> None:
        """Records where it stands; cheap enough to call often.

        Raises:
            SchedulerHangs: It has been there for too long.
        """
        now = self._clock()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        stack = self._stack_now()
        if stack != self._stack or not any(BUSY in frame for frame in stack):
            self._stack, self._since = stack, now
        elif now - self._since > self._seconds:
            raise SchedulerHangs(self._seconds, _place(stack))

    def _stack_now(self) -> tuple[str, ...]:
        """Returns the stack of the scheduler's thread; empty if this Spark has none, or is gone."""
        from py4j.protocol import Py4JError

        java: Any = self._context._jvm  # noqa: SLF001 (pyspark's door to the JVM)
        try:
            if self._thread is None:
                threads = java.java.lang.Thread.getAllStackTraces().keySet()
                self._thread = next((each.getId() for each in threads if each.getName() == THREAD), 0)
            if not self._thread:
                return ()
            bean = java.java.lang.management.ManagementFactory.getThreadMXBean()
            info = bean.getThreadInfo(self._thread, FRAMES)
            return () if info is None else tuple(frame.toString() for frame in info.getStackTrace())
        except (Py4JError, AttributeError) as error:  # pyspark's answer where the application has ended
            LOG.info("Spark's scheduler cannot be looked at: %s", error)
            return ()


def _place(stack: tuple[str, ...]) -> str:
    """Returns the innermost call of Spark's in a stack, as Java writes it."""
    frame = next(frame for frame in stack if SPARK in frame)
    return frame[frame.index(SPARK) :]  # without its class loader
