"""Slots for trials that are distributed runs: each starts a cluster for its trial and sees it through."""

from __future__ import annotations

import pickle
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hopyard.codec.records import encode_file, encode_line
from hopyard.control.gang import LOST
from hopyard.control.queue import Verdict
from hopyard.errors import BackendFailed, HopyardError, NodeFailed, NotEnoughSlots, TrialTimeout
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.node_status import Heartbeat
from hopyard.run.cluster import Cluster
from hopyard.search.study.scheduler import LEAVE, NEXT, REPORT, TrialScheduler
from hopyard.search.trial.run import with_files_elsewhere
from hopyard.tracking import TrialRecord, TrialState, run_paths
from hopyard.worker.lease import HEARTBEAT
from hopyard.worker.periodic import Periodic, PeriodicThread

if TYPE_CHECKING:
    from hopyard.run.options import RunOptions
    from hopyard.search.trial.call import TrialCall
    from hopyard.search.trial.slot import SlotOrders
    from hopyard.search.trial.slots import SlotBackend
    from hopyard.worker.gpus.request import DeviceRequest

POLL_SECONDS = 0.2
BEAT_SECONDS = 1.0
LEAVE_SECONDS = 90.0
_STOPS = {
    Verdict.PRUNE: "what it reports is hopeless",
    Verdict.DROP: "the study does not wait for it any more",
}
_ENDS = {Verdict.PRUNE: TrialState.PRUNED, Verdict.DROP: TrialState.WAITING}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSlotBackend:
    """Runs each trial as a cluster of its own.

    Attributes:
        inner: Where the nodes are.
        call: The user's function.
        nodes: How many nodes each trial has.
        options: How its clusters are run.
    """

    inner: SlotBackend
    call: TrialCall
    nodes: int
    options: RunOptions = field(repr=False)

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

    def start(self, orders: SlotOrders, count: int, service: TrialScheduler) -> ClusterSlots:
        """Starts so many slots, each in a thread of the driver."""
        return ClusterSlots([ClusterSlot(self, orders, number, service) for number in range(count)])


class ClusterSlots:
    """Slots in threads of the driver, each with a cluster."""

    def __init__(self, slots: list[ClusterSlot]) -> None:
        pool = ThreadPoolExecutor(len(slots), thread_name_prefix="hopyard-trial")
        self._slots: list[Future[int]] = [pool.submit(slot.run) for slot in slots]
        pool.shutdown(wait=False)

    def check(self) -> None:
        """Looks whether they are still there.

        Raises:
            HopyardError: What a slot broke down of.
        """
        for slot in self._slots:
            error = slot.exception() if slot.done() else None
            if error is not None:
                raise error

    def close(self) -> None:
        """Returns when all are gone."""
        if wait_for(self._slots, LEAVE_SECONDS).not_done:
            raise BackendFailed(
                "clusters", f"some trials did not end within {LEAVE_SECONDS:.0f} s of being told to"
            )


class ClusterSlot:
    """Runs trials as clusters, one after the other, until there are no more."""

    def __init__(
        self,
        backend: ClusterSlotBackend,
        orders: SlotOrders,
        number: int,
        service: TrialScheduler,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._orders = orders
        self._number = number
        self._service = service
        self._clock = clock
        self._incarnation = uuid.uuid4().hex
        self._heartbeat = Heartbeat()

    def run(self) -> int:
        """Returns how many trials it has run."""
        # in a thread: a cluster takes its time to start and to end, a store to answer, a sampler to think
        beat_seconds = min(BEAT_SECONDS, self._orders.lease_seconds / 4)
        with PeriodicThread(Periodic(self._beat, beat_seconds)):
            return self._run_trials()

    def _run_trials(self) -> int:
        count = 0
        ended: TrialRecord | None = None
        while True:
            told = None if ended is None else encode_line(ended).decode()
            answer = self._call(NEXT, host=socket.gethostname(), ended=told)
            ended = None
            if answer["leave"] is not None:
                return count
            if answer["trial"] is None:
                self._service.wait(float(answer["again"]))
                continue
            ended = self._run_trial(Assignment.from_json(answer["trial"]))
            self._heartbeat = Heartbeat()
            count += ended is not None

    def _run_trial(self, assignment: Assignment) -> TrialRecord | None:
        """Runs a trial; returns what came of it, which is stored by then, or None if nobody wants to know.

        Raises:
            NotEnoughSlots: Spark will never have room for it, nor for any other trial of the study.
        """
        started = time.time()
        run_id = replace(self._orders.run_id, trial=assignment.folder)
        record = TrialRecord(
            number=assignment.number,
            params=assignment.params,
            state=TrialState.FINISHED,
            folder=assignment.folder,
            attempt=assignment.attempt,
            slot=self._number,
            host=socket.gethostname(),
            started=started,
        )
        cluster = Cluster(
            self._backend.call.function,
            pickle.loads(assignment.arguments),  # noqa: S301  our own bytes
            self._backend.nodes,
            trial=run_id,
            **self._backend.options,
        )
        try:
            with cluster:
                record = self._see_through(cluster, assignment.number, record)
        except NotEnoughSlots:
            raise
        except (HopyardError, OSError) as error:
            record = _failed(record, error)
        if record.state is TrialState.WAITING:
            return None
        return self._store(replace(record, ended=time.time()))

    def _see_through(self, cluster: Cluster, number: int, record: TrialRecord) -> TrialRecord:
        deadline = self._clock() + (self._orders.trial_seconds or float("inf"))
        step: int | None = None
        while not cluster.has_ended(POLL_SECONDS):
            chief = cluster.nodes()[0]
            self._heartbeat = Heartbeat(step=chief.step, metrics=chief.metrics)
            stop = self._beat()
            if stop is not None:
                cluster.stop(stop)
                return replace(record, state=TrialState.WAITING)
            if chief.step is not None and chief.step != step:
                step = chief.step
                verdict = self._judge(number, step, chief.metrics)
                if verdict is not Verdict.GO_ON:
                    cluster.stop(_STOPS[verdict])
                    return replace(record, state=_ENDS[verdict])
            if self._clock() > deadline:
                assert self._orders.trial_seconds is not None
                late = TrialTimeout(self._orders.trial_seconds)
                cluster.stop(str(late))
                return _failed(record, late)
        return self._read(cluster, record)

    def _judge(self, number: int, step: int, metrics: Mapping[str, float]) -> Verdict:
        answer = self._call(REPORT, number=number, points=[[step, dict(metrics)]])
        return Verdict(answer["verdict"])

    def _read(self, cluster: Cluster, record: TrialRecord) -> TrialRecord:
        try:
            result = self._backend.call.read(cluster.wait().values[0])
        except NodeFailed as error:
            if LOST in error.message:
                return self._lose(record)
            return replace(_failed(record, error), error=error.message, traceback=error.trace)
        except (HopyardError, OSError) as error:
            return _failed(record, error)
        return replace(record, values=result.values, result=result.result, returned_as=result.key)

    def _lose(self, record: TrialRecord) -> TrialRecord:
        """Gives a trial back whose executor was lost: it is nobody's fault, and runs again."""
        self._call(LEAVE)
        self._incarnation = uuid.uuid4().hex
        return replace(record, state=TrialState.WAITING)

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

    def _beat(self) -> str | None:
        """Gives a heartbeat; returns why the slot is to leave at once, if it is."""
        told = self._heartbeat
        sign: dict[str, Any] = {
            "step": told.step,
            "metrics": dict(told.metrics),
            "idle_seconds": 0.0,
            "lines": [],
            "notes": {},
        }
        stop = self._call(HEARTBEAT, **sign).get("stop")
        return None if stop is None else str(stop)

    def _call(self, method: str, **message: Any) -> Mapping[str, Any]:
        return self._service.call(method, {"rank": self._number, "incarnation": self._incarnation, **message})


def _failed(record: TrialRecord, error: Exception) -> TrialRecord:
    return replace(record, state=TrialState.FAILED, error_type=type(error).__name__, error=str(error))
