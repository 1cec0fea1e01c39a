"""What holds of a gang whatever happens to its nodes, in whatever order the driver hears of it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import BackendFailed
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import Reply
from hopyard.protocol.node_status import Heartbeat, Phase
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState

pytestmark = pytest.mark.unit

BROKEN = BackendFailed("spark", "it was stopped")
RANKS = st.integers(0, 3)  # of as many nodes as there are
LIVES = st.sampled_from(["first", "first", "first", "second"])
PLANS = st.builds(
    Plan.of,
    nodes=st.integers(3, 4),
    ps=st.integers(0, 1),
    evaluator=st.booleans(),
    chief=st.booleans(),
)
LATER = {
    Phase.AWAITED: set(Phase),
    Phase.ARRIVED: set(Phase) - {Phase.AWAITED},
    Phase.RUNNING: set(Phase) - {Phase.AWAITED, Phase.ARRIVED},
    Phase.LOST: {Phase.LOST, Phase.FINISHED, Phase.FAILED, Phase.KILLED},  # it may come back to tell its end
    Phase.FINISHED: {Phase.FINISHED},
    Phase.FAILED: {Phase.FAILED},
    Phase.KILLED: {Phase.KILLED},
}


class Rules(RuleBasedStateMachine):
    """Any events in any order."""

    @initialize(plan=PLANS)
    def begin(self, plan: Plan) -> None:
        self.plan = plan
        self.now = 0.0
        self.stopped = False
        self.gang = Gang(plan, Timeouts(start=20, lease=8, progress=12, grace=5), now=self.now)
        self.map: ClusterMap | None = None
        self.incarnations: dict[int, str] = {}
        self.records: dict[int, NodeOutcome] = {}
        self.phases = [Phase.AWAITED] * plan.size

    @rule(rank=RANKS, incarnation=LIVES)
    def arrive(self, rank: int, incarnation: str) -> None:
        rank %= self.plan.size
        reply = self.gang.arrive(rank, incarnation=incarnation, address=f"a:{rank}", host="h", now=self.now)
        if self.incarnations.setdefault(rank, incarnation) == incarnation:
            self.check(reply)
            assert self.map is None or reply.members == self.map
            self.map = reply.members
        else:
            assert (reply.members, reply.release) == (None, None)
            assert reply.stop is not None or not self.stopped

    @rule(rank=RANKS, idle=st.floats(0, 20), incarnation=LIVES)
    def beat(self, rank: int, idle: float, incarnation: str) -> None:
        heartbeat = Heartbeat(idle_seconds=idle)
        rank %= self.plan.size
        self.check(self.gang.beat(rank, heartbeat, incarnation=incarnation, now=self.now))

    @rule(rank=RANKS, state=st.sampled_from(NodeState), incarnation=LIVES)
    def end(self, rank: int, state: NodeState, incarnation: str) -> None:
        rank %= self.plan.size
        record = NodeOutcome(rank=rank, role="r", host="h", state=state, started=0.0, ended=self.now)
        self.gang.end(rank, record, Heartbeat(), incarnation=incarnation, now=self.now)
        self.incarnations.setdefault(rank, incarnation)

    @rule(rank=RANKS, incarnation=LIVES)
    def leave(self, rank: int, incarnation: str) -> None:
        self.gang.leave(rank % self.plan.size, incarnation=incarnation)

    @rule(seconds=st.floats(0.1, 9))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.gang.tick(self.now)

    @precondition(lambda self: not self.stopped)
    @rule(event=st.sampled_from(["stop", "suspect", "give up", "nothing", "nothing", "nothing"]))
    def interfere(self, event: str) -> None:
        if event == "stop":
            self.gang.stop("told")
            self.stopped = True
        elif event == "suspect":
            self.gang.suspect(self.now)
        elif event == "give up":
            states = [record.state for record in self.gang.records.values()]
            self.gang.give_up(BROKEN, self.now)
            assert self.gang.broken == (None if states == [NodeState.FINISHED] * self.plan.size else BROKEN)
            self.stopped = self.gang.is_stopping

    def check(self, reply: Reply) -> None:
        if reply.stop is None:
            assert not self.stopped
            assert (self.gang.culprit, self.gang.error) == (None, None)
        elif "had been started before" in reply.stop:
            return  # one of two that both claim to be this node; that says nothing of the run
        self.stopped = reply.stop is not None
        if reply.release is not None:
            leaders = [self.gang.records.get(rank) for rank in self.plan.leaders]
            assert all(record is not None and record.state is NodeState.FINISHED for record in leaders)

    @invariant()
    def it_is_over_only_when_nobody_is_there(self) -> None:
        here = [phase in (Phase.ARRIVED, Phase.RUNNING) for phase in self.current_phases()]
        assert self.gang.present == sum(here)
        assert not (self.gang.is_over and any(here))

    @invariant()
    def all_is_settled_only_when_it_is_over(self) -> None:
        assert self.gang.is_over or not self.gang.is_settled

    @invariant()
    def the_end_is_known_only_of_a_run_that_ends(self) -> None:
        assert not self.gang.is_done or self.gang.is_stopping or len(self.gang.records) == self.plan.size

    @invariant()
    def the_end_is_known_once_all_have_told_and_stored_theirs(self) -> None:
        has_all = len(self.gang.records) == self.plan.size
        assert self.gang.is_done or not (has_all and self.gang.is_settled)

    @invariant()
    def records_never_change(self) -> None:
        now = dict(self.gang.records)
        assert {rank: now.get(rank) for rank in self.records} == self.records
        self.records = now

    @invariant()
    def no_node_goes_back_to_an_earlier_phase(self) -> None:
        phases = self.current_phases()
        assert all(new in LATER[old] for old, new in zip(self.phases, phases, strict=True))
        self.phases = phases

    @invariant()
    def the_lost_are_those_without_a_record(self) -> None:
        lost = {rank for rank, phase in enumerate(self.current_phases()) if phase is Phase.LOST}
        assert set(self.gang.lost) == lost
        assert not lost & self.gang.records.keys()

    @invariant()
    def who_is_to_blame_has_failed_or_is_lost(self) -> None:
        culprit = self.gang.culprit
        if culprit is not None:
            assert self.current_phases()[culprit] in (Phase.FAILED, Phase.KILLED, Phase.LOST)

    def current_phases(self) -> list[Phase]:
        return [status.phase for status in self.gang.status(self.now)]


TestRules = Rules.TestCase
TestRules.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
