"""Slots on Spark executors: one job of long tasks, each of which runs trials until there are no more."""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopyard.backends.spark import gpu_share
from hopyard.control.driver_wire import driver_address
from hopyard.errors import BackendFailed
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.trial.slot import CALL_SECONDS, Slot, SlotOrders
from hopyard.spark.job import (
    SparkJob,
    is_cancelled,
    lost_tasks,
    one_task_each,
    task_gpus,
)
from hopyard.spark.preflight.profiles import profile_for
from hopyard.spark.preflight.room import Demand, Room, slots_at_once
from hopyard.spark.session.encryption import encrypts
from hopyard.wire import WireClient, WireServer
from hopyard.worker.gpus.request import DeviceRequest

if TYPE_CHECKING:
    from pyspark import SparkContext

LOG = logging.getLogger(__name__)
LEAVE_SECONDS = 20.0
CANCEL_SECONDS = 30.0
MOST_STARTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSlots:
    """What a Spark task executes: a slot, which runs trials until the driver has no more."""

    orders: SlotOrders

    def __call__(self, numbers: Iterable[int]) -> Iterator[int]:
        """Runs the slots of a partition; yields how many trials each has run."""
        assert self.orders.driver is not None
        for number in numbers:
            with WireClient(self.orders.driver, timeout=CALL_SECONDS) as link:
                yield Slot(self.orders, number, link, gpus=task_gpus()).run()


class SparkSlotBackend:
    """Runs slots as tasks of a Spark job."""

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

    def start(self, orders: SlotOrders, count: int, service: TrialScheduler) -> SparkSlots:
        """Starts a job with so many tasks."""
        return SparkSlots(self._context, orders, count, service)


class SparkSlots:
    """A Spark job of slots, and the server that they ask.

    Spark starts a task again whose executor is lost. A job that Spark gives up is started again as long as trials end
    between one start and the next.
    """

    def __init__(
        self, context: SparkContext, orders: SlotOrders, count: int, service: TrialScheduler
    ) -> None:
        self._context = context
        self._service = service
        self._count = count
        self._group = f"hopyard-{uuid.uuid4().hex}"
        gpus = gpu_share(orders.devices)
        self._profile = profile_for(context, gpus)
        self._room = Room.of(
            context,
            [Demand(nodes=1, gpus=gpus)],
            seconds=math.inf,
            group=self._group,
        )
        host = context._conf.get("spark.driver.host", "localhost")  # noqa: SLF001  getConf() copies all
        self._server = WireServer(service, address=driver_address(host), tls=orders.tls)
        self._orders = replace(orders, driver=self._server.endpoint)
        self._starts = self._lost = 0
        self._ends_at_start = 0
        self._job = self._start()

    def check(self) -> None:
        """Looks at the job.

        Raises:
            BackendFailed: Spark gave it up, and no trial has ended since it was started.
        """
        if self._job.is_running:
            self._room.tell()
            lost = lost_tasks(self._context, self._group)
            if lost > self._lost:
                self._lost = lost
                self._service.suspect()
            return
        if self._service.tick():
            return
        error = self._job.error or BackendFailed("spark", "its slots left before the study was done")
        is_worthwhile = self._starts < MOST_STARTS and self._ends() > self._ends_at_start
        if is_cancelled(error) or not is_worthwhile:
            raise error
        LOG.warning("Spark gave up the job of the study, which is started again: %s", error)
        self._job = self._start()

    def close(self) -> None:
        """Returns when the job has ended; it is cancelled if its slots do not leave by themselves."""
        try:
            self._job.join(LEAVE_SECONDS)
            if self._job.is_running:
                self._context.cancelJobGroup(self._group)
                self._job.join(CANCEL_SECONDS)
            if self._job.is_running:
                raise BackendFailed(
                    "spark", f"its job did not end within {CANCEL_SECONDS:.0f} s of being cancelled"
                )
        finally:
            self._server.close()

    def _start(self) -> SparkJob:
        self._starts += 1
        self._ends_at_start = self._ends()
        return SparkJob(
            self._context,
            self._rows,
            group=self._group,
            description=f"hopyard: study {self._orders.study}, {self._count} at once",
            on_end=self._service.news,
        )

    def _rows(self) -> Any:
        numbers = one_task_each(self._context, range(self._count), self._profile)
        return numbers.mapPartitions(RunSlots(orders=self._orders))

    def _ends(self) -> int:
        return sum(self._service.look(lambda queue: dict(queue.ends)).values())
