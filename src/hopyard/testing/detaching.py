"""A Spark backend whose nodes always leave their tasks, whatever a run asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hopyard.cluster.backend import GroupOptions
from hopyard.cluster.node import NodeTask
from hopyard.cluster.spark import SparkBackend, SparkGroup


class DetachingBackend(SparkBackend):
    """Runs nodes that leave the Spark tasks which start them."""

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> SparkGroup:
        """Starts one node per task."""
        return super().start(tasks, replace(options, detach=True))
