"""Trials that are distributed runs: each starts a cluster and is seen through."""

from __future__ import annotations

import pickle
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hopyard.backends.processes import ThreadWorkers
from hopyard.codec.records import encode_file
from hopyard.control.gang import LOST
from hopyard.errors import HopyardError, NodeFailed, NotEnoughSlots, TrialTimeout
from hopyard.protocol.messages import Verdict
from hopyard.protocol.node_status import Heartbeat
from hopyard.run.cluster import Cluster
from hopyard.search.trial.run import with_files_elsewhere
from hopyard.tracking import TrialRecord, TrialState, run_paths

if TYPE_CHECKING:
    from hopyard.backends.base import Backend, Crew
    from hopyard.control.service import PoolService
    from hopyard.protocol.assignment import Assignment
    from hopyard.run.options import RunOptions
    from hopyard.search.trial.call import TrialCall
    from hopyard.search.trial.slot import Judge, SlotOrders
    from hopyard.worker.gpus.request import DeviceRequest

POLL_SECONDS = 0.2
_STOPS = {
    Verdict.PRUNE: "what it reports is hopeless",
    Verdict.DROP: "the study does not wait for it any more",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """What the clusters of a study have in common.

    Attributes:
        call: The user's function.
        nodes: How many nodes each has.
        options: How they are run.
    """

    call: TrialCall
    nodes: int
    options: RunOptions = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterBackend:
    """Starts slots beside the driver, whose clusters are elsewhere.

    Attributes:
        inner: Where the clusters are.
        nodes: How many nodes each has.
    """

    inner: Backend
    nodes: int

    @property
    def name(self) -> str:
        """The word for it in records and messages."""
        return self.inner.name

    @property
    def application(self) -> str | None:
        """The id of the application that runs belong to."""
        return self.inner.application

    @property
    def encrypts(self) -> bool:
        """Whether it encrypts connections of its own."""
        return self.inner.encrypts

    def room(self, devices: DeviceRequest) -> int:
        """Returns how many clusters there is room for; a plan that never fits is refused by the first of them."""
        return max(1, self.inner.room(devices) // self.nodes)

    def start(self, crew: Crew, service: PoolService) -> ThreadWorkers:
        """Starts each slot in a thread of the driver."""
        return ThreadWorkers(crew.work, crew.members, service, backend="clusters")


class ClusterTrials:
    """Runs the trials of one slot as clusters, one after the other.

    Args:
        orders: What the slots of the study have in common.
        clusters: What its clusters have in common.
        slot: Which slot.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        orders: SlotOrders,
        clusters: Clusters,
        slot: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._orders = orders
        self._clusters = clusters
        self._slot = slot
        self._clock = clock
        self._heartbeat = Heartbeat()
        self._stop: str | None = None

    def run(self, assignment: Assignment, judge: Judge) -> TrialRecord | None:
        """Runs a trial; returns what came of it, which is stored by then, or None if nobody wants to know.

        Raises:
            NotEnoughSlots: Spark will never have room for it, nor for any other trial of the study.
        """
        record = TrialRecord(
            number=assignment.number,
            params=assignment.params,
            state=TrialState.FINISHED,
            folder=assignment.folder,
            attempt=assignment.attempt,
            slot=self._slot,
            host=socket.gethostname(),
            started=time.time(),
        )
        try:
            ended = self._run_cluster(self._cluster(assignment), record, judge)
        except NotEnoughSlots:
            raise
        except (HopyardError, OSError) as error:
            ended = _failed(record, error)
        finally:
            self._heartbeat = Heartbeat()
        if ended is None or ended.state is TrialState.WAITING:
            return ended
        return self._store(replace(ended, ended=time.time()))

    def stop(self, reason: str) -> None:
        """Ends the trial that runs."""
        self._stop = reason

    def sign(self) -> Heartbeat:
        """Returns what the driver is told of the trial that runs."""
        return self._heartbeat

    def show_life(self) -> None:
        """Does nothing: the nodes of a cluster have a driver of their own, which is this process."""

    def _cluster(self, assignment: Assignment) -> Cluster:
        return Cluster(
            self._clusters.call.function,
            pickle.loads(assignment.arguments),  # noqa: S301  our own bytes
            self._clusters.nodes,
            trial=replace(self._orders.run_id, trial=assignment.folder),
            **self._clusters.options,
        )

    def _run_cluster(self, cluster: Cluster, record: TrialRecord, judge: Judge) -> TrialRecord | None:
        with cluster:
            return self._see_through(cluster, record, judge)

    def _see_through(self, cluster: Cluster, record: TrialRecord, judge: Judge) -> TrialRecord | None:
        deadline = self._clock() + (self._orders.trial_seconds or float("inf"))
        step: int | None = None
        while not cluster.has_ended(POLL_SECONDS):
            chief = cluster.nodes()[0]
            self._heartbeat = Heartbeat(step=chief.step, metrics=chief.metrics)
            if self._stop is not None:
                cluster.stop(self._stop)
                return None
            if chief.step is not None and chief.step != step:
                step = chief.step
                verdict = judge([(step, chief.metrics)])
                if verdict is not Verdict.GO_ON:
                    cluster.stop(_STOPS[verdict])
                    return replace(record, state=TrialState.PRUNED) if verdict is Verdict.PRUNE else None
            if self._clock() > deadline:
                assert self._orders.trial_seconds is not None
                late = TrialTimeout(self._orders.trial_seconds)
                cluster.stop(str(late))
                return _failed(record, late)
        return self._read(cluster, record)

    def _read(self, cluster: Cluster, record: TrialRecord) -> TrialRecord:
        try:
            result = self._clusters.call.read(cluster.wait().values[0])
        except NodeFailed as error:
            if LOST in error.message:
                return replace(record, state=TrialState.WAITING)
            return replace(_failed(record, error), error=error.message, traceback=error.trace)
        except (HopyardError, OSError) as error:
            return _failed(record, error)
        return replace(record, values=result.values, result=result.result, returned_as=result.key)

    def _store(self, record: TrialRecord) -> TrialRecord:
        project = self._orders.project
        paths = run_paths(project, replace(self._orders.run_id, trial=record.folder))
        try:
            if record.value is not None:
                project.put(paths.metric, str(record.value).encode())
            project.put(paths.trial_record, encode_file(record))
        except OSError as error:
            record = with_files_elsewhere(record, record.error or f"its record could not be stored: {error}")
        return record


def _failed(record: TrialRecord, error: Exception) -> TrialRecord:
    return replace(record, state=TrialState.FAILED, error_type=type(error).__name__, error=str(error))
