"""Where the slots of a study are: the seam between who tries what and the processes that do it."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Protocol

from hopyard.errors import BackendFailed
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.trial.slot import Slot, SlotOrders
from hopyard.worker.gpus.request import DeviceRequest

LEAVE_SECONDS = 60.0


class Slots(Protocol):
    """The slots of one study, under way."""

    def check(self) -> None:
        """Looks whether they are still there.

        Raises:
            BackendFailed: None is left, and none will come.
        """

    def close(self) -> None:
        """Returns when all are gone; the queue has told them to leave, or does so now."""


class SlotBackend(Protocol):
    """Starts slots somewhere."""

    @property
    def name(self) -> str:
        """The word for it in records and messages."""

    @property
    def application(self) -> str | None:
        """The id of the application that runs belong to, if the backend has such a thing."""

    @property
    def encrypts(self) -> bool:
        """Whether it encrypts connections of its own; those of studies are then, too, unless their user says otherwise."""

    def room(self, devices: DeviceRequest) -> int:
        """Returns how many slots there is room for."""

    def start(self, orders: SlotOrders, count: int, service: TrialScheduler) -> Slots:
        """Starts so many slots."""


class ProcessSlotBackend:
    """Runs slots beside the driver, without Spark."""

    name = "processes"
    application = None
    encrypts = False

    def room(self, devices: DeviceRequest) -> int:  # noqa: ARG002  GPUs are leased by each slot
        """Returns how many processors there are."""
        return len(os.sched_getaffinity(0))

    def start(self, orders: SlotOrders, count: int, service: TrialScheduler) -> Slots:
        """Starts so many slots, each in a thread."""
        return ProcessSlots(orders, count, service)


class ProcessSlots:
    """Slots in threads of the driver."""

    def __init__(self, orders: SlotOrders, count: int, service: TrialScheduler) -> None:
        self._service = service
        pool = ThreadPoolExecutor(count, thread_name_prefix="hopyard-slot")
        self._slots: list[Future[int]] = [
            pool.submit(Slot(orders, number, service).run) for number in range(count)
        ]
        pool.shutdown(wait=False)

    def check(self) -> None:
        """Looks whether they are still there.

        Raises:
            BackendFailed: A slot broke down.
        """
        for slot in self._slots:
            error = slot.exception() if slot.done() else None
            if error is not None:
                raise BackendFailed(
                    "processes", f"a slot could not go on ({type(error).__name__}: {error})"
                ) from error

    def close(self) -> None:
        """Returns when all are gone."""
        if wait_for(self._slots, LEAVE_SECONDS).not_done:
            raise BackendFailed(
                "processes", f"some slots did not end within {LEAVE_SECONDS:.0f} s of being told to"
            )
