"""A Spark job in a thread of its own, so that the driver can do other things meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hopyard.errors import BackendFailed
from hopyard.spark.failure import known_cause, summary

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext, SparkStageInfo
    from pyspark.resource import ResourceProfile

    from hopyard.tracking import RunId


class SparkJob:
    """One Spark job under way.

    Attributes:
        values: What its tasks returned, once it has ended well.
        error: What it ended of, if not well.
    """

    def __init__(
        self,
        context: SparkContext,
        rows: Callable[[], RDD[Any]],
        *,
        group: str,
        description: str,
        on_end: threading.Event,
    ) -> None:
        """Starts the job.

        Args:
            context: The Spark application.
            rows: Returns what is to be computed; called in the job's thread.
            group: The job group that it can be cancelled by.
            description: What Spark's pages call it.
            on_end: Set when the job has ended.
        """
        from pyspark import InheritableThread

        self._context = context
        self._rows = rows
        self._group = group
        self._description = description
        self._on_end = on_end
        self.values: tuple[Any, ...] = ()
        self.error: BackendFailed | None = None
        self._thread: threading.Thread = InheritableThread(target=self._run, session=None)
        self._thread.daemon = True
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the job has not ended."""
        return self._thread.is_alive()

    def join(self, timeout: float) -> None:
        """Waits for the end, at most so many seconds."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            self._context.setJobGroup(self._group, self._description, interruptOnCancel=False)
            self.values = tuple(self._rows().collect())
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            known = known_cause(error, self._context)
            self.error = BackendFailed("spark", known or summary(error))
            if known is None:
                self.error.__cause__ = error
        finally:
            self._on_end.set()


def job_description(run_id: RunId, what: str) -> str:
    """Returns what Spark's pages call a job that belongs to a run."""
    trial = f", trial {run_id.trial}" if run_id.trial else ""
    return f"hopyard: run.{run_id.number} ({run_id.kind}){trial}, {what}"


def one_task_each(context: SparkContext, items: Iterable[Any], profile: ResourceProfile | None) -> Any:
    """Returns an RDD with a partition for each item, whose tasks get what a profile says of an executor."""
    listed = list(items)
    rows = context.parallelize(listed, len(listed))
    return rows if profile is None else rows.withResources(profile)


def lost_tasks(context: SparkContext, group: str) -> int:
    """Returns how many tasks of a job group Spark lost: ours never fail, so an executor is gone, or its Python."""
    # a barrier stage starts anew as a whole, with counters at nought
    return sum(stage.numFailedTasks + stage.currentAttemptId for stage in _stages(context, group))


def has_active_job(context: SparkContext, group: str) -> bool:
    """Tells whether Spark has a job of a group under way, which it can cancel; of others it warns."""
    tracker = context.statusTracker()
    return not set(tracker.getActiveJobsIds()).isdisjoint(tracker.getJobIdsForGroup(group))


def is_stopped(context: SparkContext) -> bool:
    """Tells whether a Spark application has ended: by the program, or since it lost its master."""
    java: Any = context._jsc  # noqa: SLF001 (None once the program has stopped it)
    return java is None or bool(java.sc().isStopped())


def _stages(context: SparkContext, group: str) -> Iterator[SparkStageInfo]:
    tracker = context.statusTracker()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage_id in () if info is None else info.stageIds:
            stage = tracker.getStageInfo(stage_id)
            if stage is not None:
                yield stage


def is_cancelled(error: BackendFailed) -> bool:
    """Tells whether a job ended because somebody cancelled it."""
    return "SPARK_JOB_CANCELLED" in str(error)


def task_gpus() -> tuple[str, ...] | None:
    """Returns the GPUs that Spark gave the task that runs here; None if it gives none."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    gpus = context.resources().get("gpu")
    return None if gpus is None else tuple(gpus.addresses)
