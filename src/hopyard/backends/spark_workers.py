"""Workers in Spark tasks: the jobs that start them, and the server that they call.

A task stays with its worker, which so holds a slot; or the worker leaves it, so that others can have the slot.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from hopyard.backends.attachment import detaches
from hopyard.backends.base import Crew
from hopyard.backends.driver_address import driver_address
from hopyard.backends.processes import ThreadWorkers
from hopyard.control.pool_wire import PoolWire
from hopyard.control.service import PoolService
from hopyard.errors import BackendFailed, JobCancelled, NotEnoughSlots
from hopyard.spark.job import SparkJob, has_active_job, is_stopped, lost_tasks, one_task_each, task_gpus
from hopyard.spark.preflight.profiles import profile_for
from hopyard.spark.preflight.room import Demand, Room, uses_barrier
from hopyard.wire import WireServer, routable_address
from hopyard.worker.driver_link import RemoteDriver
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.work import Host, Member, Work

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.resource import ResourceProfile

LOG = logging.getLogger(__name__)
CANCEL_SECONDS = 30.0
CANCEL_AGAIN_SECONDS = 1.0


def gpu_share(request: DeviceRequest) -> float | None:
    """Returns how much of GPUs a Spark task needs for a worker; None for what the session gives."""
    return request.gpus if request.fraction is None else request.fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMembers:
    """What a Spark task executes: the work of the workers in its partition. It returns nothing: they call the driver.

    Attributes:
        work: What they do.
        driver: How they reach the driver.
    """

    work: Work
    driver: RemoteDriver

    def __call__(self, members: Iterable[Member]) -> Iterator[Any]:
        """Runs the workers of a partition."""
        host = Host(address=routable_address(peer=self.driver.endpoint.host), gpus=task_gpus())
        for member in members:
            self.work.run(member, self.driver, host)
        return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The workers on executors, by what their Spark tasks need of GPUs."""

    members: dict[float | None, tuple[Member, ...]]

    @classmethod
    def of(cls, members: Iterable[Member]) -> Self:
        """Returns the shares of these workers."""
        shares: dict[float | None, tuple[Member, ...]] = {}
        for member in members:
            gpus = gpu_share(member.devices)
            shares[gpus] = (*shares.get(gpus, ()), member)
        return cls(members=shares)

    def demands(self, *, together: bool) -> list[Demand]:
        """Returns what they ask of Spark: room for all, or for one of each kind."""
        return [Demand(nodes=len(some) if together else 1, gpus=gpus) for gpus, some in self.members.items()]

    def stages(self, context: SparkContext) -> list[tuple[ResourceProfile | None, tuple[Member, ...]]]:
        """Returns the stages in which they run: workers without a GPU may need one of their own."""
        stages: dict[int | None, tuple[ResourceProfile | None, tuple[Member, ...]]] = {}
        for gpus, some in self.members.items():
            profile = profile_for(context, gpus)
            key = None if profile is None else profile.id
            _, before = stages.get(key, (profile, ()))
            stages[key] = (profile, (*before, *some))
        return list(stages.values())


class SparkWorkers:
    """Spark jobs whose tasks are workers, and workers beside the driver, if any.

    The jobs of a gang start when there is room for all of it. Spark starts a task again whose executor is lost; a job that Spark
    gives up is started again if the crew allows it.

    Args:
        context: The Spark application.
        crew: The workers.
        service: What they call.
    """

    def __init__(self, context: SparkContext, crew: Crew, service: PoolService) -> None:
        self._context = context
        self._crew = crew
        self._service = service
        self._shares = Shares.of(member for member in crew.members if not member.is_beside_driver)
        self._demands = self._shares.demands(together=crew.is_gang)
        self._job_group = f"hopyard-{uuid.uuid4().hex}"
        self._room = Room.of(context, self._demands, seconds=crew.start_seconds, group=self._job_group)
        self._work = crew.work
        self._jobs: list[_Job] = []
        self._lost = 0
        with ExitStack() as resources:
            driver_host = context._conf.get("spark.driver.host", "localhost")  # noqa: SLF001  getConf() copies all
            address = crew.address or driver_address(driver_host)
            self._server = resources.enter_context(
                WireServer(PoolWire(service), address=address, port=crew.ports, tls=crew.tls)
            )
            if not crew.is_gang or self._room.is_there():
                self._start_jobs()
            beside = [member for member in crew.members if member.is_beside_driver]
            self._beside = ThreadWorkers(crew.work, beside, service, address=address, backend="spark")
            self._resources = resources.pop_all()

    @property
    def have_left(self) -> bool:
        """Whether the workers leave their tasks."""
        return self._work is self._crew.detached

    @property
    def refusal(self) -> NotEnoughSlots | None:
        """Why no job was started."""
        return None if self._jobs else self._room.refusal()

    def watch(self) -> None:
        """Starts the jobs when there is room; tells the service of lost tasks, and of a job that has ended too early."""
        self._beside.watch()
        if not self._jobs:
            self._start_if_there_is_room()
            return
        if any(job.is_running for job in self._jobs):
            self._look_for_lost_tasks()
            if self._service.awaits_workers and not (self._service.is_ending or is_stopped(self._context)):
                self._room.tell()
        for job in self._jobs:
            error = job.end
            if error is not None:
                self._start_again_or_give_up(job, error)
            elif not (job.is_running or self._crew.is_gang or self._service.is_ending):
                # a gang is told of the end of each node; those of other jobs, or beside the driver, may still be at work
                self._start_again_or_give_up(job, BackendFailed("spark", "its workers left before the end"))

    def close(self, patience: float) -> None:
        """Returns when the jobs have ended; they are cancelled if their workers do not leave by themselves."""
        with self._resources:
            deadline = time.monotonic() + patience
            for job in self._jobs:
                job.join(max(0.0, deadline - time.monotonic()))
            for error in [job.end for job in self._jobs]:
                if error is not None:  # before others are cancelled here: that is no error
                    self._service.give_up(error)
            self._cancel()

    def _start_if_there_is_room(self) -> None:
        if self._service.is_ending:
            return
        if is_stopped(self._context):
            self._service.give_up(BackendFailed("spark", "it was stopped while the run waited for executors"))
        elif self._room.is_there():
            self._start_jobs()
        else:
            self._room.tell()

    def _start_jobs(self) -> None:
        if self._crew.detached is not None and detaches(self._context, self._demands):
            self._work = self._crew.detached
        self._jobs = [
            _Job(profile, members, self._start(profile, members), self._service.progress)
            for profile, members in self._shares.stages(self._context)
        ]

    def _start(self, profile: ResourceProfile | None, members: Sequence[Member]) -> SparkJob:
        numbers = [member.number for member in members]
        driver = RemoteDriver(endpoint=self._server.endpoint, outcome_key=self._service.outcome_key)
        return SparkJob(
            self._context,
            _Rows(self._context, self._work, driver, members, profile, is_barrier=self._is_barrier()),
            group=self._job_group,
            description=self._work.describe(numbers),
            on_end=self._service.news,
        )

    def _is_barrier(self) -> bool:
        return self._crew.is_gang and uses_barrier(self._context)

    def _look_for_lost_tasks(self) -> None:
        lost = lost_tasks(self._context, self._job_group)
        if lost > self._lost:
            self._lost = lost
            self._service.suspect()

    def _start_again_or_give_up(self, job: _Job, error: BackendFailed) -> None:
        progress = self._service.progress
        is_worthwhile = job.starts < self._crew.most_starts and progress > job.progress
        if isinstance(error, JobCancelled) or not is_worthwhile:
            self._service.give_up(error)
            return
        LOG.warning("Spark gave up a job, which is started again: %s", error)
        job.begin_again(self._start(job.profile, job.members), progress)

    def _cancel(self) -> None:
        """Makes sure that the jobs have ended."""
        deadline = time.monotonic() + CANCEL_SECONDS
        for job in self._jobs:
            while job.is_running and time.monotonic() < deadline:
                if has_active_job(self._context, self._job_group):  # Spark may not have had it before
                    self._context.cancelJobGroup(self._job_group)
                job.join(CANCEL_AGAIN_SECONDS)
            if job.is_running:
                late = f"its job did not end within {CANCEL_SECONDS:.0f} s of being cancelled"
                raise BackendFailed("spark", late)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What a job computes; made in the job's thread."""

    context: SparkContext
    work: Work
    driver: RemoteDriver
    members: Sequence[Member]
    profile: ResourceProfile | None
    is_barrier: bool

    def __call__(self) -> Any:
        members = one_task_each(self.context, self.members, self.profile)
        spread = members.barrier() if self.is_barrier else members
        return spread.mapPartitions(RunMembers(work=self.work, driver=self.driver))


class _Job:
    """A Spark job of workers that get the same of an executor, as it was started last."""

    def __init__(
        self,
        profile: ResourceProfile | None,
        members: Sequence[Member],
        job: SparkJob,
        progress: int,
    ) -> None:
        self.profile = profile
        self.members = members
        self.starts = 1
        self.progress = progress  # of the pool when it was started
        self._job = job

    @property
    def is_running(self) -> bool:
        return self._job.is_running

    @property
    def end(self) -> BackendFailed | None:
        """What it ended of, if not well."""
        return None if self._job.is_running else self._job.error

    def begin_again(self, job: SparkJob, progress: int) -> None:
        self.starts += 1
        self.progress = progress
        self._job = job

    def join(self, timeout: float) -> None:
        self._job.join(timeout)
