"""How many GPUs Spark gives to the tasks of a stage, where that is not what the session says.

A session fixes the GPUs of a task for all stages. Nodes differ: a parameter server needs none, and several
small nodes can share one. Spark lets a stage ask for its own amount by a resource profile.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hopyard.cluster.capacity import SparkSettings, settings_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.resource import ResourceProfile

LOG = logging.getLogger(__name__)
_GPU = "gpu"


def profile_for(context: SparkContext, gpus: float | None) -> ResourceProfile | None:
    """Returns the profile for a stage whose tasks get that many GPUs each.

    Equal demands share a profile, so that dynamic allocation finds executors of an earlier run again.

    Args:
        context: The application.
        gpus: GPUs of a task: a number, a share of one, 0 for none, or None for what the session says.

    Returns:
        A profile for `RDD.withResources`; None if the session's own is right, or if Spark hands out no GPUs
        and a node has to find those of its host by itself.

    Raises:
        ValueError: `gpus` is no share of a GPU and no whole number of them.
    """
    from pyspark.resource import ResourceProfile

    settings = settings_of(context)
    amount = settings.gpus_of_task(gpus)
    if amount == settings.task_gpus:
        _tell_if_ignored(settings, gpus)
        return None
    manager = context._jsc.sc().resourceProfileManager()  # noqa: SLF001
    made = _build(context, manager.defaultResourceProfile(), amount, dynamic=settings.dynamic)
    known = manager.getEquivalentProfile(made)
    return ResourceProfile(_java_resource_profile=known.get() if known.isDefined() else made)


def _build(context: SparkContext, default: Any, gpus: float, *, dynamic: bool) -> Any:
    """Returns the session's profile with another amount of GPUs for each task."""
    java: Any = context._jvm  # noqa: SLF001 (pyspark's door to the JVM)
    resource = java.org.apache.spark.resource
    tasks = _without_gpus(resource.TaskResourceRequests(), default.taskResourcesJMap())
    if gpus:
        tasks.resource(_GPU, gpus)
    builder = resource.ResourceProfileBuilder().require(tasks)
    if dynamic:
        # Without executors of its own kind, such a stage would get some that have no GPU at all.
        executors = _without_gpus(resource.ExecutorResourceRequests(), default.executorResourcesJMap())
        if gpus:
            executors.addRequest(default.executorResourcesJMap()[_GPU])
        builder.require(executors)
    return builder.build()


def _without_gpus(requests: Any, given: Any) -> Any:
    """Adds what is given to requests, except for GPUs."""
    for name in given:
        if name != _GPU:
            requests.addRequest(given[name])
    return requests


def _tell_if_ignored(settings: SparkSettings, gpus: float | None) -> None:
    if gpus and not settings.executor_gpus:
        LOG.info("Spark hands out no GPUs here; nodes find those of their host")
