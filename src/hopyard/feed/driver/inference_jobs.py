"""Spark jobs that ask the nodes of a run for results, and are ended when they cannot get any."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from hopyard.errors import BadArguments, HopyardError
from hopyard.feed.driver.consumption import has_failed
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.driver.targets import VERDICT_SECONDS, FedNodes, FedRun
from hopyard.feed.state import FeedState
from hopyard.spark.failure import is_of_spark

if TYPE_CHECKING:
    from pyspark import SparkContext

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.2
FAILURE_SECONDS = 5.0
REPLACED = "the nodes that it asks were started again; call inference() again"
ENDED = "the nodes that it asks have ended before all results were there"


class InferenceJobs:
    """Ends the Spark jobs that wait for results of nodes which are gone, or whose results are not those that were asked for.

    Their tasks fail by themselves, but Spark repeats each of them, in vain, and each time it starts another Python for
    that. Which jobs these are is not known beforehand, since results are computed by whatever uses them. So tasks tell
    the nodes which stage they belong to, and the nodes tell the driver. Jobs keep the groups and tags that the user gave
    them.

    Args:
        run: The run.
        nodes: Those of it that are asked.
    """

    def __init__(self, run: FedRun, nodes: FedNodes) -> None:
        self._run = run
        self._nodes = nodes
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, context: SparkContext) -> None:
        """Begins to watch over the jobs of an application, if that has not begun; ends with the run."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, args=(context,), name="hopyard-asking-jobs", daemon=True
                )
                self._thread.start()

    def cause(self, error: BaseException) -> HopyardError | None:
        """Returns what an error of Spark came of: results that do not fit, or what has ended the run; None if neither."""
        if self._thread is None or not is_of_spark(type(error).__module__):
            return None
        text = str(error)
        for _, reason in _refused(self._nodes.look()):
            if reason in text:
                return BadArguments("inference", reason)
        failure = self._run.failure() if self._ends_soon() else None
        return failure if isinstance(failure, HopyardError) else None

    def _ends_soon(self) -> bool:
        """Waits a little for the end of the run, and for as long as a failed node may take to end; returns whether it came."""
        began = time.monotonic()
        while not self._run.has_ended(POLL_SECONDS):
            is_failing = any(map(has_failed, self._nodes.look().nodes))
            if time.monotonic() - began > (VERDICT_SECONDS if is_failing else FAILURE_SECONDS):
                return False
        return True

    def _watch(self, context: SparkContext) -> None:
        seen = self._nodes.look()
        while not self._run.has_ended(POLL_SECONDS):
            now = self._nodes.look()
            if now.attempt != seen.attempt:
                _end_stages(context, _asking(seen), REPLACED)
            for stage, reason in _refused(now):
                _end_stages(context, {stage}, str(BadArguments("inference", reason)))
            seen = now
        error = self._run.failure()
        reason = ENDED if error is None else (str(error) or repr(error)).splitlines()[0]
        for standing in (seen, self._nodes.look()):
            _end_stages(context, _asking(standing), reason)


def _asking(standing: GroupStatus) -> set[int]:
    """Returns the stages whose tasks wait for results of some nodes."""
    return {stage for node in standing.nodes for stage in FeedState.of(node.notes).asking}


def _refused(standing: GroupStatus) -> set[tuple[int, str]]:
    """Returns the stages that got results of some nodes which do not fit, and why."""
    return {pair for node in standing.nodes for pair in FeedState.of(node.notes).refused}


def _end_stages(context: SparkContext, stages: set[int], reason: str) -> None:
    """Cancels the jobs that some stages belong to."""
    from py4j.protocol import Py4JError

    if not stages:
        return
    try:
        for stage in stages.intersection(context.statusTracker().getActiveStageIds()):
            context._jsc.sc().cancelStage(stage, reason)  # noqa: SLF001  pyspark cancels groups and tags only
    except (Py4JError, AttributeError) as error:  # pyspark's answer where the application has ended
        LOG.info("jobs that wait for results are left to themselves: %s", error)
