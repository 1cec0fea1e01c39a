"""A Spark backend whose nodes always leave their tasks, whatever a run asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hopyard.backends.base import GroupOptions
from hopyard.backends.spark import SparkBackend, SparkGroup
from hopyard.worker.task import NodeTask


class DetachingBackend(SparkBackend):
    """Runs nodes that leave the Spark tasks which start them."""

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> SparkGroup:
        """Starts one node per task."""
        return super().start(tasks, replace(options, detach=True))
