"""The Spark backend: each worker is supervised by a Spark task on an executor, or leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopyard.backends.base import Crew
from hopyard.backends.spark_workers import SparkWorkers, gpu_share
from hopyard.control.service import PoolService
from hopyard.spark.preflight.room import slots_at_once
from hopyard.spark.session.encryption import encrypts
from hopyard.worker.gpus.request import DeviceRequest

if TYPE_CHECKING:
    from pyspark import SparkContext


class SparkBackend:
    """Runs workers as tasks of Spark jobs."""

    name = "spark"

    def __init__(self, context: SparkContext) -> None:
        self._context = context

    @property
    def application(self) -> str:
        """The id of the Spark application."""
        return str(self._context.applicationId)

    @property
    def encrypts(self) -> bool:
        """Whether Spark encrypts its own connections."""
        return encrypts(self._context._conf)  # noqa: SLF001  getConf() copies all

    def room(self, devices: DeviceRequest) -> int:
        """Returns how many tasks the executors run at once.

        Raises:
            NotEnoughSlots: There is no room for a single one.
        """
        return slots_at_once(self._context, gpu_share(devices))

    def start(self, crew: Crew, service: PoolService) -> SparkWorkers:
        """Starts a Spark task for each worker: for a gang, as soon as there are executors for all.

        Raises:
            NotEnoughSlots: This Spark will never have room for them.
        """
        return SparkWorkers(self._context, crew, service)
