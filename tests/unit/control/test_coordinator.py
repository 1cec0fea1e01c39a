from __future__ import annotations

import threading

import pytest

from hopyard.control.coordinator import Coordinator, Listener
from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import BackendFailed, UnknownMethod
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import Arrive, AskTrial, Beat, Ended, Left, Noted, Reply
from hopyard.protocol.node_status import Heartbeat, Phase
from hopyard.protocol.outcome import Outcome
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState

pytestmark = pytest.mark.unit


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def coordinator(
    nodes: int = 1, *, on_lines: Listener | None = None, clock: Clock | None = None
) -> Coordinator:
    return Coordinator(
        Gang(Plan.of(nodes), Timeouts(lease=3.0), now=0.0), on_lines=on_lines, clock=clock or Clock()
    )


def arrival(rank: int = 0, incarnation: str = "first") -> Arrive:
    return Arrive(number=rank, incarnation=incarnation, address=f"a:{rank}", host="here")


def beat(rank: int = 0, *lines: str) -> Beat:
    return Beat(number=rank, incarnation="first", heartbeat=Heartbeat(step=1, lines=lines))


def record(rank: int = 0, state: NodeState = NodeState.FINISHED) -> NodeOutcome:
    return NodeOutcome(rank=rank, role="chief", host="here", state=state, started=0.0, ended=1.0)


def ended(rank: int = 0, *lines: str) -> Ended:
    sign = Heartbeat(step=1, lines=lines)
    return Ended(number=rank, incarnation="first", record=record(rank), heartbeat=sign)


def left(rank: int = 0) -> Left:
    return Left(number=rank, incarnation="first")


def present(run: Coordinator) -> int:
    return sum(status.phase in (Phase.ARRIVED, Phase.RUNNING) for status in run.status())


def test_the_answer_to_the_last_who_arrives_has_the_map() -> None:
    assert coordinator().ask(arrival()) == Reply(
        again=0.2, members=ClusterMap(by_role={"chief": ("a:0",)}), stop=None, release=None
    )


def test_a_node_lives_from_its_arrival_to_its_end() -> None:
    run = coordinator()
    run.ask(arrival())
    assert (present(run), run.tick()) == (1, False)
    assert run.ask(beat()).stop is None
    assert run.ask(ended()) == Noted()
    assert (present(run), run.tick(), run.is_settled) == (0, False, False)
    assert run.ask(left()) == Noted()
    assert (run.tick(), run.is_settled) == (True, True)


def test_time_is_looked_at_with_each_tick() -> None:
    clock = Clock()
    run = coordinator(clock=clock)
    run.ask(arrival())
    for clock.now in (1.0, 2.0, 3.0):
        assert not run.tick()
    clock.now = 3.5
    assert run.tick()
    assert run.status()[0].phase is Phase.LOST


def test_a_stop_and_a_suspicion_reach_the_nodes() -> None:
    run = coordinator(2)
    run.ask(arrival())
    assert not run.is_ending
    run.suspect()
    run.stop("enough")
    assert run.ask(arrival()).stop == "a part of the run was lost"
    assert run.is_ending


def test_a_backend_that_gives_nodes_up_ends_the_run() -> None:
    run = coordinator(2)
    assert run.awaits_workers
    run.give_up(BackendFailed("spark", "it was stopped"))
    assert "it was stopped" in str(run.ask(arrival()).stop)
    assert run.is_ending


def test_more_workers_are_awaited_until_all_have_arrived_and_none_is_ever_started_again() -> None:
    run = coordinator(2)
    run.ask(arrival(0))
    assert run.awaits_workers
    run.ask(arrival(1))
    assert not run.awaits_workers
    assert run.progress == 0
    run.ask(ended())
    assert run.progress == 0


def test_whoever_waits_is_told_when_a_node_ends_and_when_it_has_left() -> None:
    run = coordinator()
    run.ask(arrival())
    run.ask(beat())
    assert not run.news.is_set()
    for message in (ended(), left()):
        run.ask(message)
        assert run.news.is_set()
        run.news.clear()
    assert run.is_settled


def test_an_outcome_that_a_node_brings_is_news_and_counts() -> None:
    gang = Gang(Plan.of(1), Timeouts(), now=0.0)
    run = Coordinator(gang, clock=Clock())
    run.ask(arrival())
    outcome = Outcome(record=record(), value=b"value")
    run.deliver(0, "first", outcome)
    assert run.news.is_set()
    assert gang.outcomes == {0: outcome}


@pytest.mark.parametrize("rank", [2, -1])
def test_a_rank_that_is_none_of_the_run_is_refused(rank: int) -> None:
    with pytest.raises(ValueError, match=f"rank {rank} is none of the 2 nodes"):
        coordinator(2).ask(beat(rank))


def test_a_message_for_another_kind_of_pool_is_refused() -> None:
    with pytest.raises(UnknownMethod):
        coordinator().ask(AskTrial(number=0, incarnation="first", host="here"))


def test_output_is_shown_as_it_comes_with_beats_and_with_the_end() -> None:
    shown: list[tuple[int, tuple[str, ...]]] = []
    run = coordinator(on_lines=lambda rank, lines: shown.append((rank, lines)))
    run.ask(arrival())
    run.ask(beat(0, "a", "b"))
    run.ask(beat(0))
    run.ask(ended(0, "c"))
    assert shown == [(0, ("a", "b")), (0, ("c",))]


def test_output_that_is_shown_slowly_holds_up_no_other_node() -> None:
    showing, go_on = threading.Event(), threading.Event()

    def show(rank: int, lines: tuple[str, ...]) -> None:
        showing.set()
        assert go_on.wait(10)

    run = coordinator(2, on_lines=show)
    slow = threading.Thread(target=run.ask, args=(beat(0, "a"),))
    slow.start()
    assert showing.wait(10)
    assert run.ask(arrival(1)).stop is None
    go_on.set()
    slow.join()
