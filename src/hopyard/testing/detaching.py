"""A Spark backend whose nodes always leave their tasks, whatever a run asks for."""

from __future__ import annotations

from dataclasses import replace

from hopyard.backends.base import Crew
from hopyard.backends.spark import SparkBackend
from hopyard.backends.spark_workers import SparkWorkers
from hopyard.control.service import PoolService
from hopyard.worker.node_work import DetachedNodeWork, NodeWork


class DetachingBackend(SparkBackend):
    """Runs nodes that leave the Spark tasks which start them."""

    def start(self, crew: Crew, service: PoolService) -> SparkWorkers:
        """Starts one node per task."""
        assert isinstance(crew.work, NodeWork)
        leaving = DetachedNodeWork(task=crew.work.task, seconds=crew.start_seconds / 2)
        return super().start(replace(crew, detached=crew.detached or leaving), service)
