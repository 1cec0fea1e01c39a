"""How many GPUs Spark gives to the tasks of a stage, where that is not what the session says.

A session fixes the GPUs of a task for all stages. Nodes differ: a parameter server needs none, and several
small nodes can share one. Spark lets a stage ask for its own amount by a resource profile.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hopyard.spark.preflight.capacity import SparkSettings, settings_of

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
    default = ResourceProfile(_java_resource_profile=manager.defaultResourceProfile())
    made = _changed(default, amount, dynamic=settings.dynamic)
    known = manager.getEquivalentProfile(made._java_resource_profile)  # noqa: SLF001
    return ResourceProfile(_java_resource_profile=known.get()) if known.isDefined() else made


def _changed(default: ResourceProfile, gpus: float, *, dynamic: bool) -> ResourceProfile:
    """Returns the session's profile with another amount of GPUs for each task."""
    from pyspark.resource import (
        ExecutorResourceRequests,
        ResourceProfileBuilder,
        TaskResourceRequest,
        TaskResourceRequests,
    )

    tasks = {name: request for name, request in default.taskResources.items() if name != _GPU}
    if gpus:
        tasks[_GPU] = TaskResourceRequest(_GPU, gpus)
    builder = ResourceProfileBuilder().require(TaskResourceRequests(_requests=tasks))
    if dynamic:
        # Such a stage gets executors of its own; unless told, Spark would start them without GPUs.
        executors = {
            name: request for name, request in default.executorResources.items() if gpus or name != _GPU
        }
        builder.require(ExecutorResourceRequests(_requests=executors))
    return builder.build


def _tell_if_ignored(settings: SparkSettings, gpus: float | None) -> None:
    if gpus and not settings.executor_gpus:
        LOG.info("Spark hands out no GPUs here; nodes find those of their host")
