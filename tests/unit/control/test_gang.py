from __future__ import annotations

import pytest

from hopyard.control.gang import LOST, UNEXPLAINED_SECONDS, Gang, Timeouts
from hopyard.errors import BackendFailed, NodesMissing, NoProgress
from hopyard.protocol.messages import Reply
from hopyard.protocol.node_status import Heartbeat, Phase
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState

pytestmark = pytest.mark.unit

PATIENCE = Timeouts(start=60.0, lease=10.0, grace=7.0)


def record(rank: int, state: NodeState = NodeState.FINISHED) -> NodeOutcome:
    return NodeOutcome(rank=rank, role="worker", host="here", state=state, started=0.0, ended=1.0)


class Group:
    """A gang, the hands of a clock, and shorter words for what its nodes do."""

    def __init__(self, plan: Plan, timeouts: Timeouts = PATIENCE, *, together: bool = True) -> None:
        self.now = 0.0
        self.plan = plan
        self.gang = Gang(plan, timeouts, now=self.now)
        if together:
            for _ in range(2):  # in the second round all learn of the map
                for node in plan.nodes:
                    self.arrive(node.rank)

    def arrive(self, rank: int, incarnation: str = "first") -> Reply:
        address = f"10.0.0.{rank}:80"
        return self.gang.arrive(
            rank, incarnation=incarnation, address=address, host=f"host{rank}", now=self.now
        )

    def beat(self, rank: int, **sign: object) -> Reply:
        incarnation = str(sign.pop("incarnation", "first"))
        heartbeat = Heartbeat(**sign)  # type: ignore[arg-type]
        return self.gang.beat(rank, heartbeat, incarnation=incarnation, now=self.now)

    def end(self, rank: int, state: NodeState = NodeState.FINISHED, incarnation: str = "first") -> None:
        self.gang.end(rank, record(rank, state), Heartbeat(), incarnation=incarnation, now=self.now)

    def pass_time(self, seconds: float, *, beating: tuple[int, ...] = ()) -> None:
        """Lets time pass as it does in a driver that looks at the clock every second."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 1)
            for rank in beating:
                self.beat(rank)
            self.gang.tick(self.now)

    def phase(self, rank: int) -> Phase:
        return self.gang.status(self.now)[rank].phase


def trio(**timeouts: float) -> Group:
    return Group(Plan.of(3), Timeouts(**{"start": 60.0, "lease": 10.0, **timeouts}))


# --- arrival ---------------------------------------------------------------------------------------


def test_nodes_wait_for_each_other_and_then_all_get_the_same_map() -> None:
    group = Group(Plan.of(3, ps=1), together=False)
    assert group.arrive(2).members is None
    assert group.arrive(0).members is None
    assert not group.gang.has_all
    last = group.arrive(1).members
    assert last is not None
    assert last.by_role == {"chief": ("10.0.0.0:80",), "worker": ("10.0.0.1:80",), "ps": ("10.0.0.2:80",)}
    assert group.arrive(2).members == last
    assert group.beat(0).members is None  # it has the map, which is large where there are many nodes


def test_a_node_is_awaited_then_arrived_then_running() -> None:
    group = Group(Plan.of(2), together=False)
    assert group.phase(0) is Phase.AWAITED
    group.arrive(0)
    assert group.phase(0) is Phase.ARRIVED
    group.arrive(1)
    group.arrive(0)
    assert (group.phase(0), group.phase(1)) == (Phase.RUNNING, Phase.RUNNING)


def test_a_deadline_names_the_nodes_that_are_missing() -> None:
    group = Group(Plan.of(4, ps=1), together=False)
    group.arrive(0)
    group.arrive(2)
    group.pass_time(60, beating=(0, 2))
    assert group.beat(0).stop is None
    group.pass_time(1, beating=(0, 2))
    error = group.gang.error
    assert isinstance(error, NodesMissing)
    assert "2 of 4 nodes arrived within 60 s; missing: node 1 (worker), node 3 (ps)" in str(error)
    assert group.beat(0).stop == str(error)


def test_a_map_that_is_complete_ends_the_deadline() -> None:
    group = trio()
    group.pass_time(100, beating=(0, 1, 2))
    assert (group.gang.error, group.beat(0).stop) == (None, None)


def test_a_stop_reaches_those_who_wait_for_the_others() -> None:
    group = Group(Plan.of(2), together=False)
    group.arrive(0)
    group.gang.stop("enough")
    assert group.arrive(0).stop == "enough"
    assert group.arrive(1).stop == "enough"


def test_a_rank_that_is_none_is_refused() -> None:
    group = trio()
    for rank in (3, -1):
        with pytest.raises(ValueError, match=f"rank {rank} is none of the 3 nodes"):
            group.beat(rank)


def test_a_node_that_fails_before_it_arrives_stops_the_others() -> None:
    group = Group(Plan.of(2), together=False)
    group.arrive(0)
    group.end(1, NodeState.FAILED)
    assert group.arrive(0).stop == "node 1 failed"
    assert group.gang.culprit == 1


def test_a_beat_of_a_node_that_has_not_arrived_makes_it_no_member() -> None:
    group = Group(Plan.of(1), together=False)
    assert group.beat(0).members is None
    assert (group.phase(0), group.gang.present) == (Phase.AWAITED, 0)


@pytest.mark.parametrize(("nodes", "poll", "beat"), [(1, 0.02, 0.2), (100, 0.2, 0.2), (1000, 2.0, 1.0)])
def test_large_groups_call_less_often(nodes: int, poll: float, beat: float) -> None:
    group = Group(Plan.of(nodes), together=False)
    if nodes > 1:
        assert group.arrive(0).again == poll
    for node in group.plan.nodes:
        group.arrive(node.rank)
    assert group.beat(0).again == beat


# --- a node's task is started again ----------------------------------------------------------------


def test_the_same_node_may_arrive_as_often_as_it_likes() -> None:
    group = Group(Plan.of(2), together=False)
    for _ in range(3):
        assert group.arrive(0).stop is None
    assert group.gang.present == 1


def test_a_node_that_comes_in_a_second_life_is_sent_away_and_the_first_is_lost_if_it_is_silent() -> None:
    group = trio()
    group.pass_time(3, beating=(0, 2))
    assert group.arrive(1, incarnation="second").stop == "a part of the run was lost"
    assert group.phase(1) is Phase.LOST
    assert group.gang.lost == {1: LOST}
    assert group.gang.culprit == 1


def test_a_second_life_waits_while_the_first_is_alive_as_spark_would_take_the_first_to_end() -> None:
    group = trio()
    for _ in range(3):
        group.pass_time(1, beating=(0, 1, 2))
        reply = group.arrive(1, incarnation="second")
        assert (reply.stop, reply.members) == (None, None)
    assert group.phase(1) is Phase.RUNNING
    group.end(1)
    assert group.arrive(1, incarnation="second").stop == f"node 1 had been started before: {LOST}"
    assert group.beat(0).stop is None


def test_the_end_of_a_second_life_says_nothing_of_the_first() -> None:
    group = trio()
    group.arrive(1, incarnation="second")
    group.end(1, NodeState.FAILED, incarnation="second")
    assert group.phase(1) is Phase.RUNNING
    assert group.gang.records == {}
    assert group.beat(0).stop is None


def test_a_second_life_of_a_node_that_has_ended_is_sent_away_and_changes_nothing() -> None:
    group = trio()
    group.end(1)
    assert group.arrive(1, incarnation="second").stop is not None
    assert (group.phase(1), group.gang.culprit) == (Phase.FINISHED, None)
    assert group.beat(0).stop is None


def test_after_a_second_life_others_who_are_silent_are_lost_too() -> None:
    group = trio()
    group.pass_time(3, beating=(0,))
    group.arrive(1, incarnation="second")
    group.pass_time(0.1, beating=(0,))
    assert [group.phase(rank) for rank in range(3)] == [Phase.RUNNING, Phase.LOST, Phase.LOST]


# --- what nodes leave ------------------------------------------------------------------------------


def test_it_is_settled_when_all_have_stored_what_they_leave() -> None:
    group = trio()
    for rank in range(3):
        group.end(rank)
        group.gang.leave(rank, incarnation="second")  # of another process, which says nothing
    assert (group.gang.is_over, group.gang.is_settled) == (True, False)
    for rank in range(3):
        group.gang.leave(rank, incarnation="first")
    assert group.gang.is_settled


def test_a_node_that_stores_for_long_is_waited_for_while_it_is_heard() -> None:
    group = trio()
    for rank in range(3):
        group.end(rank)
    group.pass_time(60, beating=(0, 1, 2))
    assert not group.gang.is_settled
    group.pass_time(11)
    assert group.gang.is_settled


def test_the_first_outcome_that_a_node_brings_counts_and_is_its_end_if_none_was_told() -> None:
    group = trio()
    group.end(0)
    for rank, incarnation in ((0, "first"), (1, "first"), (2, "second")):
        for value in (b"value", b"again"):
            brought = Outcome(record=record(rank), value=value)
            group.gang.deliver(rank, brought, incarnation=incarnation, now=group.now)
    values = {rank: outcome.value for rank, outcome in group.gang.outcomes.items()}
    assert values == {0: b"value", 1: b"value"}
    assert set(group.gang.records) == {0, 1}
    assert not group.gang.is_settled


def test_a_failure_that_somebody_else_brings_ends_the_run() -> None:
    group = trio()
    brought = Outcome(record=record(1, NodeState.FAILED))
    group.gang.deliver(1, brought, incarnation="first", now=group.now)
    assert (group.gang.culprit, group.beat(0).stop) == (1, "node 1 failed")


# --- who is alive ----------------------------------------------------------------------------------


def test_a_node_is_lost_when_nothing_was_heard_of_it_for_its_lease() -> None:
    group = trio()
    group.pass_time(10, beating=(0, 2))
    assert group.phase(1) is Phase.RUNNING
    group.pass_time(1, beating=(0, 2))
    assert group.phase(1) is Phase.LOST
    assert group.gang.lost == {1: "nothing was heard of it for 10 s (lease)"}
    assert group.beat(0).stop == "node 1 was lost"


def test_a_node_that_waits_for_the_others_is_lost_as_well() -> None:
    group = Group(Plan.of(2), together=False)
    group.arrive(0)
    group.pass_time(11)
    assert group.phase(0) is Phase.LOST
    assert group.arrive(1).stop == "node 0 was lost"


def test_a_node_that_has_ended_is_never_lost() -> None:
    group = trio()
    group.end(1)
    group.pass_time(30, beating=(0, 2))
    assert group.phase(1) is Phase.FINISHED
    assert group.beat(0).stop is None


def test_under_suspicion_the_silent_are_lost_within_seconds() -> None:
    group = trio()
    group.gang.suspect(group.now)
    assert group.beat(0).stop == "a part of the run was lost"
    group.pass_time(3, beating=(0, 2))
    assert group.gang.lost == {1: LOST}


def test_a_suspicion_before_anybody_came_stops_nobody() -> None:
    group = Group(Plan.of(1), together=False)
    group.gang.suspect(group.now)
    assert group.arrive(0).stop is None


def test_a_driver_that_was_held_up_itself_blames_nobody_for_that_time() -> None:
    group = trio()
    group.pass_time(3, beating=(0, 1))
    group.now += 300  # Ctrl-Z, and fg five minutes later
    group.gang.tick(group.now)
    group.pass_time(7, beating=(0, 1))  # with the three seconds of before, that is the lease
    assert all(group.phase(rank) is Phase.RUNNING for rank in range(3))
    group.pass_time(1, beating=(0, 1))
    assert group.phase(2) is Phase.LOST


def test_a_short_lease_outlives_a_driver_that_was_held_up_for_longer() -> None:
    group = trio(lease=2.0)
    group.pass_time(1, beating=(0, 1, 2))
    group.now += 4
    group.gang.tick(group.now)
    assert all(group.phase(rank) is Phase.RUNNING for rank in range(3))


def test_a_driver_that_was_held_up_while_nodes_arrived_waits_for_them_all_the_longer() -> None:
    group = Group(Plan.of(2), together=False)
    group.now += 300
    group.gang.tick(group.now)
    group.pass_time(60)
    assert group.gang.error is None
    group.pass_time(1)
    assert isinstance(group.gang.error, NodesMissing)


def test_a_lost_node_that_comes_back_is_told_to_stop_and_its_record_counts() -> None:
    group = trio()
    group.pass_time(11, beating=(0, 2))
    assert group.beat(1).stop == "node 1 was lost"
    assert group.phase(1) is Phase.LOST
    group.end(1, NodeState.KILLED)
    assert (group.gang.lost, group.gang.culprit) == ({}, 1)
    assert group.gang.records[1].state is NodeState.KILLED


def test_a_lost_node_that_was_done_after_all_is_nobody_to_blame() -> None:
    group = Group(Plan.of(1))
    group.pass_time(11)
    group.end(0)
    assert group.gang.culprit is None
    assert group.gang.is_over


# --- the first failure ends the run ----------------------------------------------------------------


def test_a_group_goes_on_while_nobody_fails() -> None:
    group = trio()
    group.end(1)
    assert (group.beat(0).stop, group.beat(0).release) == (None, None)


def test_the_first_failure_stops_all_others_and_names_the_node() -> None:
    group = trio()
    group.end(1, NodeState.FAILED)
    group.end(2, NodeState.FAILED)
    assert group.beat(0).stop == "node 1 failed"
    assert group.gang.culprit == 1


def test_the_first_reason_to_stop_counts() -> None:
    group = trio()
    group.gang.stop("interrupted")
    group.end(1, NodeState.FAILED)
    group.gang.stop("again")
    assert group.beat(0).stop == "interrupted"


def test_a_node_that_was_killed_although_nobody_asked_for_it_has_failed() -> None:
    group = trio()
    group.end(1, NodeState.KILLED)
    assert group.beat(0).stop == "node 1 failed"


def test_nodes_that_were_stopped_are_nobody_to_blame() -> None:
    group = trio()
    group.gang.stop("enough")
    for rank in range(3):
        group.end(rank, NodeState.KILLED)
    assert group.gang.culprit is None


def test_a_lost_node_comes_before_one_that_failed_because_of_it() -> None:
    group = trio()
    group.pass_time(5, beating=(0, 2))
    group.end(0, NodeState.FAILED)  # its peer closed the connection
    assert group.gang.culprit == 0
    group.pass_time(6, beating=(2,))
    assert group.gang.culprit == 1


def test_of_two_lost_nodes_the_one_that_fell_silent_first_is_to_blame() -> None:
    group = trio()
    group.pass_time(2, beating=(0, 1))
    group.pass_time(2, beating=(0,))
    group.pass_time(11)
    group.beat(2)  # it was only slow, and still fell silent first
    assert group.gang.culprit == 2


def test_a_late_or_repeated_end_changes_no_record() -> None:
    group = trio()
    group.end(1)
    group.end(1, NodeState.FAILED)
    assert group.gang.records[1].state is NodeState.FINISHED
    assert group.beat(0).stop is None


def test_a_beat_that_comes_after_the_end_changes_nothing() -> None:
    group = trio()
    group.gang.end(1, record(1), Heartbeat(step=9), incarnation="first", now=0.0)
    group.beat(1, step=8)
    assert (group.gang.present, group.phase(1)) == (2, Phase.FINISHED)
    assert group.gang.status(0.0)[1].step == 9


# --- no progress -----------------------------------------------------------------------------------


def test_a_run_ends_when_all_who_train_have_been_silent_for_too_long() -> None:
    group = Group(Plan.of(2), Timeouts(progress=100.0))
    group.beat(0, idle_seconds=101.0)
    group.beat(1, idle_seconds=99.0)
    group.gang.tick(0.0)
    assert group.gang.error is None
    group.beat(1, idle_seconds=102.0)
    group.gang.tick(0.0)
    error = group.gang.error
    assert isinstance(error, NoProgress)
    assert "node 0 (chief) 101 s ago; node 1 (worker) 102 s ago" in str(error)
    assert group.beat(0).stop == str(error)


def test_a_busy_evaluator_is_no_progress_of_the_training() -> None:
    group = Group(Plan.of(2, evaluator=True), Timeouts(progress=100.0))
    group.beat(0, idle_seconds=101.0)
    group.beat(1, idle_seconds=0.0)
    group.gang.tick(0.0)
    assert isinstance(group.gang.error, NoProgress)


def test_nodes_that_have_ended_or_not_begun_are_not_asked_for_progress() -> None:
    group = Group(Plan.of(2, evaluator=True), Timeouts(start=1e9, lease=1e9, progress=3.0), together=False)
    group.arrive(0)
    group.pass_time(10)
    group.arrive(1)
    group.arrive(0)
    group.end(0)
    group.pass_time(10)
    assert group.gang.error is None


# --- release ---------------------------------------------------------------------------------------


def test_parameter_servers_and_workers_are_released_when_the_chief_is_done() -> None:
    group = Group(Plan.of(4, ps=1, evaluator=True), PATIENCE)
    assert [group.beat(rank).release for rank in range(4)] == [None] * 4
    group.end(0)
    assert [group.beat(rank).release for rank in (1, 2, 3)] == [0.0, 0.0, 7.0]
    assert not group.gang.is_over


def test_without_parameter_servers_the_evaluator_waits_for_all_who_train() -> None:
    group = Group(Plan.of(3, evaluator=True), PATIENCE)
    group.end(0)
    assert group.beat(2).release is None
    group.end(1)
    assert group.beat(2).release == 7.0


def test_nobody_is_released_when_a_leader_failed() -> None:
    group = Group(Plan.of(2, ps=1), PATIENCE)
    group.end(0, NodeState.FAILED)
    reply = group.beat(1)
    assert (reply.release, reply.stop) == (None, "node 0 failed")


def test_who_was_released_can_still_be_told_to_stop() -> None:
    group = Group(Plan.of(2, evaluator=True), PATIENCE)
    group.end(0)
    assert group.beat(1).release == 7.0
    group.gang.stop("interrupted")
    assert group.beat(1).stop == "interrupted"


# --- the end ---------------------------------------------------------------------------------------


def test_it_is_over_when_all_have_ended() -> None:
    group = trio()
    for rank in range(3):
        assert not group.gang.is_over
        group.end(rank)
    assert group.gang.is_over


def test_it_is_not_over_while_some_have_not_come() -> None:
    group = Group(Plan.of(2), together=False)
    assert not group.gang.is_over


def test_after_a_stop_only_those_who_came_are_waited_for() -> None:
    group = Group(Plan.of(3), together=False)
    group.arrive(0)
    group.gang.stop("enough")
    assert not group.gang.is_over
    group.end(0, NodeState.KILLED)
    assert group.gang.is_over
    group.arrive(1)  # late: it is told to stop, and waited for
    assert not group.gang.is_over


def test_after_a_failure_it_is_over_when_the_survivors_have_ended() -> None:
    group = trio()
    group.end(0, NodeState.FAILED)
    group.end(1, NodeState.KILLED)
    assert not group.gang.is_over
    group.pass_time(11)  # the third is lost
    assert group.gang.is_over


# --- a backend that breaks -------------------------------------------------------------------------

BROKEN = BackendFailed("spark", "it was stopped")


def test_a_backend_that_breaks_ends_the_run_once_those_who_are_alive_have_ended() -> None:
    group = trio()
    group.end(0)
    group.gang.leave(0, incarnation="first")
    group.gang.give_up(BROKEN, group.now)
    assert (group.gang.broken, group.gang.is_stopping) == (BROKEN, True)
    assert group.beat(1).stop is not None
    assert not group.gang.is_done
    for rank in (1, 2):
        group.end(rank, NodeState.KILLED)
        group.gang.leave(rank, incarnation="first")
    assert group.gang.is_done
    assert group.gang.culprit is None


def test_those_who_fell_silent_with_their_backend_are_lost_within_seconds() -> None:
    group = trio()
    group.gang.give_up(BROKEN, group.now)
    group.pass_time(3, beating=(0, 2))
    assert group.gang.lost == {1: LOST}
    assert not group.gang.is_done


def test_a_backend_that_breaks_before_anybody_came_is_all_that_there_is_to_know() -> None:
    group = Group(Plan.of(2), together=False)
    group.gang.give_up(BROKEN, group.now)
    assert group.gang.is_done
    assert group.arrive(0).stop == f"the run has lost its backend: {BROKEN}"


def test_the_first_error_of_a_backend_counts() -> None:
    group = Group(Plan.of(2), together=False)
    group.gang.give_up(BROKEN, group.now)
    group.gang.give_up(BackendFailed("spark", "it was stopped again"), group.now)
    assert group.gang.broken is BROKEN


def test_nodes_that_were_alive_are_waited_for_no_longer_than_a_minute_after_their_backend_broke() -> None:
    group = trio()
    group.gang.give_up(BROKEN, group.now)
    group.pass_time(UNEXPLAINED_SECONDS, beating=(0, 1, 2))
    assert not group.gang.is_done
    group.pass_time(2, beating=(0, 1, 2))
    assert group.gang.is_done
    assert group.gang.records == {}


def test_a_backend_that_breaks_tells_why_nodes_were_stopped_even_after_all_have_ended() -> None:
    group = trio()
    group.gang.suspect(group.now)
    for rank in range(3):
        group.end(rank, NodeState.KILLED)
        group.gang.leave(rank, incarnation="first")
    group.gang.give_up(BROKEN, group.now)
    assert (group.gang.broken, group.gang.is_done, group.gang.culprit) == (BROKEN, True, None)


def test_a_backend_that_breaks_when_all_have_ended_well_changes_nothing() -> None:
    group = trio()
    for rank in range(3):
        brought = Outcome(record=record(rank), value=b"value")
        group.gang.deliver(rank, brought, incarnation="first", now=group.now)
        group.gang.leave(rank, incarnation="first")
    assert group.gang.is_done
    group.gang.give_up(BROKEN, group.now)
    assert (group.gang.broken, group.gang.is_stopping, group.gang.is_done) == (None, False, True)
    assert set(group.gang.outcomes) == {0, 1, 2}


# --- the end is known ------------------------------------------------------------------------------


def test_the_end_is_known_when_all_have_stored_what_they_leave() -> None:
    group = trio()
    for rank in range(3):
        group.end(rank)
    assert not group.gang.is_done
    for rank in range(3):
        group.gang.leave(rank, incarnation="first")
    assert group.gang.is_done


def test_the_end_is_known_when_a_node_failed_and_the_others_are_gone() -> None:
    group = trio()
    group.end(1, NodeState.FAILED)
    group.gang.leave(1, incarnation="first")
    assert not group.gang.is_done
    group.pass_time(11)  # the others are lost
    assert group.gang.is_done
    assert group.gang.culprit == 0


def test_the_end_is_known_when_the_deadline_for_arrivals_has_passed_and_those_who_came_have_ended() -> None:
    group = Group(Plan.of(2), together=False)
    group.arrive(0)
    group.pass_time(61, beating=(0,))
    assert not group.gang.is_done
    group.end(0, NodeState.KILLED)
    group.gang.leave(0, incarnation="first")
    assert group.gang.is_done


def test_a_stop_before_all_came_gives_the_others_a_minute_to_tell_why() -> None:
    group = Group(Plan.of(2), together=False)
    group.arrive(0)
    group.gang.stop("a part of the run was lost")
    group.end(0, NodeState.KILLED)
    group.gang.leave(0, incarnation="first")
    group.pass_time(UNEXPLAINED_SECONDS)
    assert not group.gang.is_done
    group.pass_time(2)
    assert group.gang.is_done


def test_a_failure_that_is_told_within_that_minute_is_the_reason() -> None:
    group = Group(Plan.of(2), together=False)
    group.gang.stop("a part of the run was lost")
    group.pass_time(30)
    assert not group.gang.is_done
    group.end(1, NodeState.FAILED)
    assert not group.gang.is_done
    group.gang.leave(1, incarnation="first")
    assert group.gang.is_done
    assert group.gang.culprit == 1


def test_the_minute_begins_again_with_a_node_that_comes_late() -> None:
    group = Group(Plan.of(3), together=False)
    group.gang.stop("a part of the run was lost")
    group.pass_time(50)
    group.arrive(0)
    group.pass_time(5, beating=(0,))
    group.end(0, NodeState.KILLED)
    group.gang.leave(0, incarnation="first")
    group.pass_time(UNEXPLAINED_SECONDS)
    assert not group.gang.is_done
    group.pass_time(2)
    assert group.gang.is_done


def test_status_tells_what_the_nodes_last_said() -> None:
    group = trio()
    group.beat(1, step=12, metrics={"loss": 0.5}, notes={"tensorboard": "http://there"})
    group.now = 2.5
    status = group.gang.status(group.now)[1]
    assert (status.rank, status.role, status.host, status.step) == (1, "worker", "host1", 12)
    assert (status.metrics, status.notes) == ({"loss": 0.5}, {"tensorboard": "http://there"})
    assert status.silent_seconds == 2.5
