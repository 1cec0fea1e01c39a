"""The nodes of one attempt of a run, under way on some backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hopyard.backends.base import Backend, Crew
from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import JobCancelled
from hopyard.protocol.node_status import NodeStatus
from hopyard.protocol.outcome import Outcome
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.worker.detach.lost_outcome import absent_outcome, lost_outcome, undelivered_outcome
from hopyard.worker.node_work import DetachedNodeWork, NodeWork
from hopyard.worker.ports import ANY_PORT
from hopyard.worker.task import NodeTask
from hopyard.worker.work import Member

TICK_SECONDS = 0.5
NODES_SECONDS = 15.0
LEASE_MARGIN_SECONDS = 2.0
LEAVE_SECONDS = 20.0
LOST_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """How a group is watched over.

    Attributes:
        timeouts: How long to wait for what.
        on_lines: Receives the rank and the output of nodes that stream it.
        on_driver: Whether parameter servers and evaluator run beside the driver.
        detach: Whether nodes leave their Spark tasks, so that others can have the slots.
        others_need: Modules that those others need.
        address: Where nodes on other machines find the driver; None to find out.
        ports: The ports that the driver may listen on for them.
        tls: Whether they call it over TLS.
    """

    timeouts: Timeouts = field(default_factory=Timeouts)
    on_lines: Callable[[int, tuple[str, ...]], None] | None = None
    on_driver: bool = False
    detach: bool = False
    others_need: tuple[str, ...] = ()
    address: str | None = None
    ports: tuple[int, ...] = ANY_PORT
    tls: bool = False

    def crew(self, tasks: Sequence[NodeTask]) -> Crew:
        """Returns the workers that these nodes are."""
        task, start_seconds = tasks[0], self.timeouts.start
        # so that a node which does not manage to leave is told of before start_timeout has run out
        detached = DetachedNodeWork(task=task, seconds=start_seconds / 2, meanwhile=self.others_need)
        return Crew(
            work=NodeWork(task=task),
            detached=detached if self.detach else None,
            members=tuple(
                Member(
                    number=each.node.rank,
                    devices=each.devices,
                    is_beside_driver=self.on_driver and not each.node.trains,
                )
                for each in tasks
            ),
            is_gang=True,
            start_seconds=start_seconds,
            address=self.address,
            ports=self.ports,
            tls=self.tls,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEnd:
    """How a group ended.

    Attributes:
        outcomes: What came of the nodes, in rank order.
        culprit: The rank of the node that failed first, whose failure made the others end; None if none did.
    """

    outcomes: tuple[Outcome, ...]
    culprit: int | None = None


class Group:
    """Nodes, and the coordinator that they call. Whoever waits for the group drives it: `wait` looks at clock and workers.

    Args:
        backend: Where they run.
        tasks: One node each; they differ in nothing but the node and its devices.
        options: How they are watched over.
    """

    def __init__(self, backend: Backend, tasks: Sequence[NodeTask], options: GroupOptions) -> None:
        self._tasks = {task.node.rank: task for task in tasks}
        self._lease_seconds = options.timeouts.lease
        self._gang = Gang(tasks[0].plan, options.timeouts, now=time.monotonic())
        self._coordinator = Coordinator(self._gang, on_lines=options.on_lines)
        self._workers = backend.start(options.crew(tasks), self._coordinator)

    def wait(self, timeout: float | None = None) -> GroupEnd | None:
        """Returns how the group ended, or None if some nodes still run after ``timeout`` seconds.

        Raises:
            BackendFailed: The backend itself broke down.
            NodesMissing: Not all nodes arrived in time.
            NoProgress: The nodes were silent for too long.
        """
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._look():
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._pause(min(TICK_SECONDS, left))
        return self._end()

    def stop(self, reason: str) -> None:
        """Tells the nodes to end, so that they store what they have, and returns when they are gone.

        A node that has left its task and does not hear of it ends when its lease has run out.
        """
        self._coordinator.stop(reason)
        lease = self._lease_seconds + LEASE_MARGIN_SECONDS if self._workers.have_left else 0.0
        deadline = time.monotonic() + max(NODES_SECONDS, lease)
        while not (self._look() or self._coordinator.is_settled) and time.monotonic() < deadline:
            self._pause(TICK_SECONDS / 5)
        self._workers.close(LOST_SECONDS)

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        self._coordinator.grant(grace_seconds)

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        return self._coordinator.status()

    def _look(self) -> bool:
        """Looks at workers and clock; returns whether nothing more is to be expected."""
        self._workers.watch()
        return self._coordinator.tick()

    def _pause(self, seconds: float) -> None:
        if self._coordinator.news.wait(seconds):
            self._coordinator.news.clear()

    def _end(self) -> GroupEnd:
        gang = self._gang
        has_all = len(gang.outcomes) == len(self._tasks)
        self._workers.close(LEAVE_SECONDS if has_all else LOST_SECONDS)
        if gang.error is not None:
            raise self._workers.refusal or gang.error
        is_well = has_all and all(outcome.ok for outcome in gang.outcomes.values())
        is_cancelled = isinstance(gang.broken, JobCancelled)
        if gang.broken is not None and not is_well and (gang.culprit is None or is_cancelled):
            raise gang.broken
        return GroupEnd(outcomes=self._outcomes(), culprit=gang.culprit)

    def _outcomes(self) -> tuple[Outcome, ...]:
        """Returns what is known of each node: what it brought, else its last words, else its silence."""
        hosts = {status.rank: status.host for status in self._coordinator.status()}
        known = dict(self._gang.outcomes)
        for rank, record in self._gang.records.items():
            known[rank] = known.get(rank) or self._told(rank, record)
        for rank, reason in self._gang.lost.items():
            known[rank] = lost_outcome(self._tasks[rank], hosts[rank], reason)
        return tuple(known.get(rank) or absent_outcome(self._tasks[rank]) for rank in sorted(self._tasks))

    def _told(self, rank: int, record: NodeOutcome) -> Outcome:
        """Returns what came of a node that told its end and brought nothing."""
        if record.state is NodeState.FINISHED:
            return undelivered_outcome(self._tasks[rank], record, "it fell silent on the way")
        return Outcome(record=record)
