"""The policy of a run: all nodes arrive or none, and the first failure ends them all. Events in, instructions out.

No I/O, no thread, no clock: the time comes with each event. `hopyard.control.coordinator` stands between this
and the wire; who is alive, `hopyard.control.membership` knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hopyard.control.membership import Admission, Membership
from hopyard.errors import HopyardError, NodesMissing, NoProgress
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import Reply
from hopyard.protocol.node_status import Heartbeat, NodeStatus, Phase
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Node, Plan, Role
from hopyard.tracking import NodeOutcome, NodeState

UNEXPLAINED_SECONDS = 60.0
LOST = "its executor was lost (see Spark's log; often the memory limit)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for what; in seconds.

    Attributes:
        start: Until all nodes have arrived.
        lease: Without a word from a node, until it counts as lost.
        progress: Without any node printing or reporting something; None for no limit.
        grace: For an evaluator to end by itself once the training is done.
    """

    start: float = 600.0
    lease: float = 30.0
    progress: float | None = None
    grace: float = 30.0


@dataclass(slots=True, kw_only=True)
class _Member:
    """What is known of one node."""

    node: Node
    phase: Phase = Phase.AWAITED
    incarnation: str = ""  # of the process that is this node; a later one changes nothing
    address: str = ""
    host: str = ""
    heard: float = 0.0  # at the last message that counted
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    record: NodeOutcome | None = None
    outcome: Outcome | None = None  # of a node that brings it itself
    has_left: bool = False

    @property
    def is_here(self) -> bool:
        return self.phase in (Phase.ARRIVED, Phase.RUNNING)

    @property
    def is_storing(self) -> bool:
        return self.record is not None and not self.has_left


class Gang:
    """The nodes of one attempt of a run as the driver knows them from their messages.

    The first node that fails or is lost ends the run: all others are told to stop with their next call. When those
    that the run waits for have returned, the others are released. Messages may come twice or late.
    """

    def __init__(self, plan: Plan, timeouts: Timeouts, *, now: float) -> None:
        self._timeouts = timeouts
        self._leaders = plan.leaders
        self._members = {node.rank: _Member(node=node) for node in plan.nodes}
        self._membership = Membership(timeouts.lease, size=plan.size, now=now)
        self._began = now
        self._map: ClusterMap | None = None
        self._stop: str | None = None
        self._suspected = False
        self._culprit: int | None = None
        self._error: HopyardError | None = None
        self._broken: Exception | None = None
        self._waits_since: float | None = None
        self._is_over_due = False

    @property
    def error(self) -> HopyardError | None:
        """What ended the run other than the failure of a node."""
        return self._error

    @property
    def broken(self) -> Exception | None:
        """Why the backend gave up those nodes that were not there."""
        return self._broken

    @property
    def culprit(self) -> int | None:
        """The rank of the node that failed first; a lost node comes before those which failed without it."""
        lost = [rank for rank, member in self._members.items() if member.phase is Phase.LOST]
        if lost:
            return min(lost, key=lambda rank: self._members[rank].heard)
        if self._culprit is not None and self._members[self._culprit].phase is Phase.FINISHED:
            return None  # it had been silent for long, and came back
        return self._culprit

    @property
    def has_all(self) -> bool:
        """Whether every node has arrived."""
        return self._map is not None

    @property
    def is_stopping(self) -> bool:
        """Whether the nodes are told to end."""
        return self._stop is not None

    @property
    def present(self) -> int:
        """How many nodes have come and not ended."""
        return sum(member.is_here for member in self._members.values())

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be expected: all have ended, or a stop has reached all who came."""
        if self.present:
            return False
        return self._stop is not None or all(member.record for member in self._members.values())

    @property
    def is_settled(self) -> bool:
        """Whether it is over, and those who have ended have also stored what they leave."""
        return self.is_over and not any(member.is_storing for member in self._members.values())

    @property
    def is_done(self) -> bool:
        """Whether the end is known, as far as it ever will be: with all outcomes, or with a reason why some are missing."""
        return self._is_over_due or self._is_explained

    @property
    def records(self) -> Mapping[int, NodeOutcome]:
        """How the nodes ended, by rank; of a lost node there is none."""
        return {rank: member.record for rank, member in self._members.items() if member.record is not None}

    @property
    def outcomes(self) -> Mapping[int, Outcome]:
        """What came of the nodes, by rank, as far as they have brought it themselves."""
        return {rank: member.outcome for rank, member in self._members.items() if member.outcome is not None}

    @property
    def lost(self) -> Mapping[int, str]:
        """The ranks of the nodes that vanished, and what is known of why."""
        silence = f"nothing was heard of it for {self._timeouts.lease:.0f} s (lease)"
        reason = LOST if self._suspected else silence
        return {rank: reason for rank, member in self._members.items() if member.phase is Phase.LOST}

    def arrive(self, rank: int, *, incarnation: str, address: str, host: str, now: float) -> Reply:
        """Records that a node has arrived and can be reached at an address."""
        member = self._member(rank)
        if member.incarnation not in ("", incarnation):
            return self._arrive_again(member, incarnation, now)
        if member.phase is Phase.AWAITED:
            member.incarnation, member.address, member.host = incarnation, address, host
            member.phase = Phase.ARRIVED
        if member.is_here:
            self._membership.arrive(rank, incarnation, now)
            member.heard = now
        self._close_map()
        if self._map is not None and member.phase is Phase.ARRIVED:
            member.phase = Phase.RUNNING
        waits = self._map is None
        again = self._membership.poll_seconds if waits else self._membership.beat_seconds
        return replace(self._reply(member, again), members=self._map)

    def beat(self, rank: int, heartbeat: Heartbeat, *, incarnation: str, now: float) -> Reply:
        """Records that a node is alive; of one that has ended or is lost nothing changes any more."""
        member = self._member(rank)
        if self._membership.hear(rank, incarnation, now):
            member.heard = now
            if member.is_here:
                member.heartbeat = heartbeat
        return self._reply(member, self._membership.beat_seconds)

    def end(
        self, rank: int, record: NodeOutcome, heartbeat: Heartbeat, *, incarnation: str, now: float
    ) -> None:
        """Records that a node has ended, and of its last heartbeat."""
        member = self._member(rank)
        if member.incarnation not in ("", incarnation):
            return  # the end of a second process says nothing of the first
        if member.record is not None:
            return
        self._membership.arrive(rank, incarnation, now)  # it is watched until it has stored what it leaves
        member.incarnation = incarnation
        member.record = record
        member.heartbeat = heartbeat
        member.heard = now
        member.phase = Phase.of(record.state)
        if member.has_left:
            self._has_left(member)
        if record.state is NodeState.FAILED or (record.state is NodeState.KILLED and self._stop is None):
            self._fail(rank, f"node {rank} failed")

    def deliver(self, rank: int, outcome: Outcome, *, incarnation: str, now: float) -> None:
        """Takes what came of a node, which is its end if nobody told of that before; the first word counts."""
        member = self._member(rank)
        self.end(rank, outcome.record, member.heartbeat, incarnation=incarnation, now=now)
        if member.incarnation == incarnation:
            self._membership.hear(rank, incarnation, now)
            member.heard = now
            member.outcome = member.outcome or outcome

    def leave(self, rank: int, *, incarnation: str) -> None:
        """Records that a node, which has ended, has also stored what it leaves."""
        member = self._member(rank)
        if member.incarnation == incarnation:
            self._has_left(member)

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""
        self._timeouts = replace(self._timeouts, grace=grace_seconds)

    def suspect(self, now: float) -> None:
        """Records that a part of the run was lost; nodes that stay silent now count as lost soon."""
        self._suspected = True
        self._membership.suspect(now)
        if self.present:
            self.stop("a part of the run was lost")

    def give_up(self, error: Exception, now: float) -> None:
        """Records that nodes which are not here will not come any more: the backend that starts them has ended."""
        if all(member.phase is Phase.FINISHED for member in self._members.values()):
            return  # nobody is to come, and nobody was stopped for it
        self._broken = self._broken or error
        self.suspect(now)
        self.stop(f"the run has lost its backend: {error}")

    def stop(self, reason: str) -> None:
        """Ends the run; the first reason counts."""
        if self._stop is None:
            self._stop = reason

    def tick(self, now: float) -> None:
        """Looks at the clock: who has been silent for too long, and which deadline has passed."""
        for rank in self._membership.silent(now):
            member = self._members[rank]
            if member.is_here:
                self._lose(member)
            else:
                self._has_left(member)
        if self._stop is None:
            self._check_arrival(now)
            self._check_progress(now)
        self._wait_for_reason(now)

    def status(self, now: float) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""
        return tuple(
            NodeStatus(
                rank=rank,
                role=member.node.role.value,
                phase=member.phase,
                host=member.host,
                address=member.address,
                step=member.heartbeat.step,
                metrics=member.heartbeat.metrics,
                silent_seconds=self._silence(member, now),
                idle_seconds=self._idle(member, now),
                notes=member.heartbeat.notes,
            )
            for rank, member in self._members.items()
        )

    def _member(self, rank: int) -> _Member:
        if rank not in self._members:
            raise ValueError(f"rank {rank} is none of the {len(self._members)} nodes of this run")
        return self._members[rank]

    def _arrive_again(self, member: _Member, incarnation: str, now: float) -> Reply:
        """Answers a second process that Spark started as the same node; a training is not repeated unasked.

        If the first one has fallen silent, its executor is gone. If not, Spark speculates, and would take the
        first of the two to end for the result: the second waits until the run is over.
        """
        again = self._membership.beat_seconds
        if member.is_here:
            admission = self._membership.arrive(member.node.rank, incarnation, now)
            if admission is Admission.SECOND and self._stop is None:
                return Reply(again=again)
            if admission is Admission.SUCCESSOR:
                self._membership.leave(member.node.rank, incarnation)
                self.suspect(now)
                self._lose(member)
        started = f"node {member.node.rank} had been started before: {LOST}"
        return Reply(again=again, stop=self._stop or started)

    def _lose(self, member: _Member) -> None:
        self._membership.leave(member.node.rank, member.incarnation)
        member.phase = Phase.LOST
        self._fail(member.node.rank, f"node {member.node.rank} was lost")

    def _has_left(self, member: _Member) -> None:
        member.has_left = True
        if member.record is not None:  # else its end was not heard: it counts as lost when its lease runs out
            self._membership.leave(member.node.rank, member.incarnation)

    def _silence(self, member: _Member, now: float) -> float:
        """Returns for how long nothing was heard of a node that is here."""
        return now - self._membership.heard(member.node.rank) if member.is_here else 0.0

    def _idle(self, member: _Member, now: float) -> float:
        """Returns for how long a node that is here has neither printed nor reported anything."""
        return member.heartbeat.idle_seconds + self._silence(member, now) if member.is_here else 0.0

    def _close_map(self) -> None:
        if self._map is None and all(member.address for member in self._members.values()):
            self._map = ClusterMap.of({member.node: member.address for member in self._members.values()})

    def _reply(self, member: _Member, again: float) -> Reply:
        return Reply(again=again, stop=self._stop, release=self._release(member.node))

    def _release(self, node: Node) -> float | None:
        if node.rank in self._leaders:
            return None
        if not all(self._members[rank].phase is Phase.FINISHED for rank in self._leaders):
            return None
        return self._timeouts.grace if node.role is Role.EVALUATOR else 0.0

    def _fail(self, rank: int, reason: str) -> None:
        if self._culprit is None:
            self._culprit = rank
        self.stop(reason)

    @property
    def _is_explained(self) -> bool:
        if self._broken is not None:
            return self.is_settled
        if not self.is_settled:
            return False
        has_all = len(self.records) == len(self._members)
        return has_all or self.culprit is not None or self._error is not None

    def _wait_for_reason(self, now: float) -> None:
        """Gives nodes that never came, and a backend that broke, some time to tell why."""
        is_waiting = self._broken is not None or self.is_settled
        if not is_waiting or self._is_explained:
            self._waits_since = None
        elif self._waits_since is None:
            self._waits_since = now
        self._is_over_due = self._waits_since is not None and now - self._waits_since > UNEXPLAINED_SECONDS

    def _check_arrival(self, now: float) -> None:
        waited = now - self._began - self._membership.asleep
        if self._map is None and waited > self._timeouts.start:
            missing = tuple(str(member.node) for member in self._members.values() if not member.address)
            self._error = NodesMissing(missing, len(self._members), self._timeouts.start)
            self.stop(str(self._error))

    def _check_progress(self, now: float) -> None:
        limit = self._timeouts.progress
        running = [
            self._members[rank] for rank in self._leaders if self._members[rank].phase is Phase.RUNNING
        ]
        if limit is None or not running:
            return
        idle = {member.node: self._idle(member, now) for member in running}
        if min(idle.values()) > limit:
            last = tuple(f"{node} {seconds:.0f} s ago" for node, seconds in idle.items())
            self._error = NoProgress(limit, last)
            self.stop(str(self._error))
