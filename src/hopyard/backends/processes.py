"""The backend without Spark: each worker is a supervised process on this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable

from hopyard.backends.base import Crew
from hopyard.control.service import PoolService
from hopyard.errors import BackendFailed, HopyardError
from hopyard.worker.driver_link import DriverAtHand
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.work import LOOPBACK, Host, Member, Work

LEAVE_SECONDS = 60.0


class ProcessesBackend:
    """Runs workers as processes of this machine."""

    name = "processes"
    application = None
    encrypts = False

    def room(self, devices: DeviceRequest) -> int:  # noqa: ARG002  GPUs are leased by each worker
        """Returns how many processors there are."""
        return len(os.sched_getaffinity(0))

    def start(self, crew: Crew, service: PoolService) -> ThreadWorkers:
        """Starts each worker in a thread."""
        return ThreadWorkers(crew.work, crew.members, service)


class ThreadWorkers:
    """Workers in threads of the driver, whose processes are its children.

    A program that ends does not wait for these threads, as it would for those of a ThreadPoolExecutor: the processes end
    with the program.

    Args:
        work: What they do.
        members: Who they are.
        service: What they call, directly.
        address: At which others reach this machine.
        backend: The word for where they run, in messages.
    """

    have_left = False
    refusal = None

    def __init__(
        self,
        work: Work,
        members: Iterable[Member],
        service: PoolService,
        *,
        address: str = LOOPBACK,
        backend: str = "processes",
    ) -> None:
        self._service = service
        self._backend = backend
        host = Host(address=address)
        self._threads = [_WorkerThread(work, member, service, host) for member in members]
        for thread in self._threads:
            thread.start()

    def watch(self) -> None:
        """Tells the service of a worker that broke down."""
        for thread in self._threads:
            if thread.error is not None:
                self._service.give_up(self._told(thread.error))

    def close(self, patience: float) -> None:  # noqa: ARG002  nothing ends a thread by force
        """Returns when all are gone."""
        deadline = time.monotonic() + LEAVE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            late = f"some workers did not end within {LEAVE_SECONDS:.0f} s of being told to"
            raise BackendFailed(self._backend, late)

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, HopyardError):
            return error
        failed = BackendFailed(self._backend, f"a worker could not go on ({type(error).__name__}: {error})")
        failed.__cause__ = error
        return failed


class _WorkerThread(threading.Thread):
    """A worker in a thread, and what it broke down of."""

    def __init__(self, work: Work, member: Member, service: PoolService, host: Host) -> None:
        super().__init__(name=f"hopyard-worker-{member.number}", daemon=True)
        self._work = work
        self._member = member
        self._service = service
        self._host = host
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._work.run(self._member, DriverAtHand(self._service), self._host)
        except Exception as error:  # noqa: BLE001  the edge of a thread; whoever watches it is told
            self.error = error
            self._service.news.set()
