"""Sees a run through: starts its group, starts it again where that was asked for, and records how it ended."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from hopyard.backends.base import Backend
from hopyard.backends.group import Group, GroupEnd, GroupOptions
from hopyard.control.restart_policy import RestartPolicy
from hopyard.errors import (
    BackendFailed,
    EndNotRecorded,
    HopyardError,
    NodeFailed,
    NodesMissing,
    NotEnoughSlots,
    RunStopped,
)
from hopyard.feed.driver.group_status import GroupStatus, feed_token
from hopyard.frameworks.registry import driver_variables
from hopyard.protocol.node_status import NodeStatus
from hopyard.protocol.outcome import failure
from hopyard.run.announcement import tell_left_files
from hopyard.run.options import TrainSpec
from hopyard.store import Project
from hopyard.tensorboard.chief import NAME as TENSORBOARD
from hopyard.tracking import NodeState, RunState, RunWriter
from hopyard.worker.execution import Report
from hopyard.worker.rescue import rescue
from hopyard.worker.task import Companion, NodeTask, driver_search_path

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.2
FEED_TASKS = ("hopyard.feed.task.functions",)  # by name: a driver that feeds nothing does not load it
INTERRUPT_SECONDS = 1.0
LONGEST_VALUE = 20_000  # a history of a hundred epochs with some metrics has room


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All that is needed to start the nodes of a run, as often as it takes."""

    spec: TrainSpec
    backend: Backend
    project: Project
    payload: bytes
    feed_secret: str = field(default="", repr=False)
    companions: tuple[Companion, ...] = ()
    tls: bool = False

    def tasks(self, run: RunWriter, attempt: int) -> list[NodeTask]:
        """Returns what each node is to be given."""
        search_path, environment = driver_search_path(), driver_variables()
        return [
            NodeTask(
                node=node,
                plan=self.spec.plan,
                run_id=run.id,
                project=self.project,
                payload=self.payload,
                attempt=attempt,
                search_path=search_path,
                environment=environment,
                lease_seconds=self.spec.timeouts.lease,
                devices=self.spec.devices(node),
                ports=self.spec.ports,
                frameworks=self.spec.frameworks,
                streams=self.spec.stream_logs,
                companions=self.companions,
                feed_token=feed_token(self.feed_secret, attempt),
                tls=self.tls,
            )
            for node in self.spec.plan.nodes
        ]


class ControllerState(Enum):
    """Where a run is, for whoever reads the log of its driver."""

    PREPARED = "prepared"
    RUNNING = "running"  # the nodes of an attempt are under way
    RESTARTING = "restarting"  # those of one have failed, those of the next are not there yet
    STOPPING = "stopping"  # nodes are told to end, since somebody asked for it
    STORING = "storing"  # all nodes have returned; the record is written
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The nodes that were started last: number and group in one, since other threads look at both; and those before."""

    attempt: int
    group: Group
    before: tuple[NodeStatus, ...] = ()


class RunController:
    """Carries one run from its start to its recorded end, in a thread of its own once `begin` has returned."""

    def __init__(
        self,
        plan: RunPlan,
        run: RunWriter,
        *,
        announce: Callable[[str], None],
        on_lines: Callable[[int, tuple[str, ...]], None] | None = None,
        before_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepares to carry out a run.

        Args:
            plan: What to start.
            run: Where it is recorded.
            announce: Called with the address of a TensorBoard beside the chief.
            on_lines: Receives the rank and the output of nodes that stream it.
            before_end: Called when all nodes have returned, for what else belongs on record.
        """
        self._plan = plan
        self._run = run
        self._announce = announce
        self._before_end = before_end
        self._announced = ""
        self._options = GroupOptions(
            timeouts=plan.spec.timeouts,
            on_lines=on_lines,
            on_driver=plan.spec.on_driver,
            detach=plan.spec.feed,
            others_need=FEED_TASKS if plan.spec.feed else (),
            address=plan.spec.driver_address,
            ports=plan.spec.driver_ports,
            tls=plan.tls,
        )
        self._restarts = RestartPolicy(plan.spec.max_restarts)
        self._state = ControllerState.PREPARED
        self._stop_reason: str | None = None
        self._current: _Attempt | None = None
        self._look = threading.Event()

    def begin(self) -> None:
        """Starts the nodes for the first time; what this raises is the caller's to handle."""
        self._current = self._start(0)
        self._enter(ControllerState.RUNNING)

    def run(self) -> tuple[Any, ...]:
        """Returns the nodes' values once all has ended and is on record.

        Raises:
            NodeFailed: A node failed, and there was no restart left.
            EndNotRecorded: All nodes returned, and the store did not take it.
            RunStopped: `stop` was called.
            HopyardError: Whatever else ended the run; a failure that it was started again after is its cause.
        """
        assert self._current is not None
        try:
            return self._see_through(self._current.group)
        finally:
            self._enter(ControllerState.ENDED)

    def _see_through(self, group: Group) -> tuple[Any, ...]:
        end = self._wait(group)
        while end.culprit is not None:
            failed = failure(end.outcomes[end.culprit].record)
            if not self._may_restart(end):
                raise failed
            if self._stop_reason is not None:
                raise RunStopped(str(self._run.id), self._stop_reason) from failed
            end = self._once_more(failed)
        self._enter(ControllerState.STORING)
        values = tuple(outcome.result() for outcome in end.outcomes)
        self._record_end(_printed(values[0]), end.outcomes[0].value)
        return values

    def _once_more(self, failed: NodeFailed) -> GroupEnd:
        """Starts the nodes again and returns how they ended; what keeps them from it is told with the failure."""
        attempt = self.attempt + 1
        self._enter(ControllerState.RESTARTING)
        LOG.warning("attempt %d of run %s begins: %s", attempt, self._run.id, _first_line(failed))
        try:
            self._run.restarted(attempt, _first_line(failed))
        except OSError as error:
            raise _not_again(failed, error) from None
        try:
            self._current = self._start(attempt)
            self._enter(ControllerState.RUNNING)
            return self._wait(self._current.group)
        except (NotEnoughSlots, NodesMissing) as error:
            raise _not_again(failed, error) from None
        except Exception as error:
            raise error from failed

    def _record_end(self, printed: str, value: bytes | None) -> None:
        try:
            self._before_end()
            self._run.finish(RunState.FINISHED, value=_bounded(printed))
        except OSError as error:
            rescued = rescue(None, Report(value=value, printed=printed))
            raise EndNotRecorded(str(self._run.id), str(error), rescued) from error

    def stop(self, reason: str) -> None:
        """Asks for the end; `run` raises once the nodes are gone."""
        if self._stop_reason is None:
            self._stop_reason = reason
        self._look.set()

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        self._options = replace(self._options, timeouts=replace(self._options.timeouts, grace=grace_seconds))
        if self._current is not None:
            self._current.group.grant(grace_seconds)

    @property
    def attempt(self) -> int:
        """How often the nodes were started again."""
        return 0 if self._current is None else self._current.attempt

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        return self.standing().nodes

    def standing(self) -> GroupStatus:
        """Returns how the nodes are doing, and which nodes these are."""
        current = self._current
        if current is None:
            return GroupStatus()
        return GroupStatus(attempt=current.attempt, nodes=current.group.status(), before=current.before)

    def _start(self, attempt: int) -> _Attempt:
        tasks = self._plan.tasks(self._run, attempt)
        before = self.status()
        return _Attempt(attempt, Group(self._plan.backend, tasks, self._options), before)

    def _wait(self, group: Group) -> GroupEnd:
        while True:
            if self._stop_reason is not None:
                self._enter(ControllerState.STOPPING)
                group.stop(self._stop_reason)
                raise RunStopped(str(self._run.id), self._stop_reason)
            try:
                end = group.wait(POLL_SECONDS)
            except BackendFailed:
                # on Ctrl-C Spark cancels all jobs, and only then raises what makes the driver stop the run
                if self._look.wait(INTERRUPT_SECONDS):
                    continue
                raise
            if end is not None:
                outcomes = (outcome.record for outcome in end.outcomes)
                tell_left_files(self._plan.project, self._run.id, outcomes)
                return _with_culprit(end)
            self._look_for_tensorboard(group)

    def _look_for_tensorboard(self, group: Group) -> None:
        url = group.status()[0].notes.get(TENSORBOARD, "")
        if url and url != self._announced:
            self._announced = url
            try:
                self._announce(url)
            except (OSError, HopyardError) as error:  # no reason to end a training
                LOG.warning("TensorBoard is at %s, which could not be recorded: %s", url, error)

    def _may_restart(self, end: GroupEnd) -> bool:
        assert end.culprit is not None
        has_begun = any(node.step is not None for node in self.status())
        return self._restarts.may_restart(end.outcomes[end.culprit].record, has_begun=has_begun)

    def _enter(self, state: ControllerState) -> None:
        LOG.debug("run %s: %s, was %s", self._run.id, state.value, self._state.value)
        self._state = state


def _with_culprit(end: GroupEnd) -> GroupEnd:
    """Names the node to blame where the group did not: one whose results could not be stored, say."""
    if end.culprit is not None or all(outcome.ok for outcome in end.outcomes):
        return end
    records: Sequence[Any] = [outcome.record for outcome in end.outcomes if not outcome.ok]
    first = min(records, key=lambda record: (record.state is NodeState.KILLED, record.ended))
    return GroupEnd(outcomes=end.outcomes, culprit=first.rank)


def _not_again(failed: NodeFailed, error: Exception) -> NodeFailed:
    """Returns the failure of a node, with the reason why the run could not be started again after it."""
    failed.add_note(f"It could not be started again: {type(error).__name__}: {error}")
    return failed


def _bounded(printed: str) -> str:
    """Returns a text that has room on a record; of one that has not, the beginning, with a mark."""
    return printed if len(printed) <= LONGEST_VALUE else f"{printed[:LONGEST_VALUE]}…"


def _printed(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001  the user's code; what was trained for days is not lost for it
        return f"an {type(value).__name__} that cannot be printed ({error})"


def _first_line(error: NodeFailed) -> str:
    return str(error).splitlines()[0]
