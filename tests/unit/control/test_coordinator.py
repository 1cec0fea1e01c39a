from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from hopyard.codec.records import encode_line
from hopyard.control.coordinator import Coordinator, Listener
from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import CorruptRecord, UnknownMethod
from hopyard.protocol.node_status import Phase
from hopyard.protocol.plan import Plan
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.wire import Json
from hopyard.worker.lease import ENDED, HEARTBEAT, LEFT, REGISTER, parse_heartbeat

pytestmark = pytest.mark.unit

SIGN: dict[str, Json] = {
    "incarnation": "first",
    "step": 1,
    "metrics": {},
    "idle_seconds": 0.0,
    "lines": [],
    "notes": {},
}


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


def registration(rank: int = 0, incarnation: str = "first") -> dict[str, Json]:
    return {"rank": rank, "incarnation": incarnation, "address": f"a:{rank}", "host": "here"}


def ended(rank: int = 0, state: NodeState = NodeState.FINISHED, **sign: Json) -> dict[str, Json]:
    record = NodeOutcome(rank=rank, role="chief", host="here", state=state, started=0.0, ended=1.0)
    return {"rank": rank, "record": encode_line(record).decode(), **SIGN, **sign}


def test_an_answer_is_a_json_object_with_the_map() -> None:
    assert coordinator().call(REGISTER, registration()) == {
        "again": 0.2,
        "members": {"chief": ["a:0"]},
        "stop": None,
        "release": None,
    }


def test_a_node_lives_from_its_registration_to_its_end() -> None:
    run = coordinator()
    run.call(REGISTER, registration())
    assert (run.present, run.tick()) == (1, False)
    assert run.call(HEARTBEAT, {"rank": 0, **SIGN})["stop"] is None
    assert run.call(ENDED, ended()) == {}
    assert (run.present, run.tick()) == (0, True)


def test_time_is_looked_at_with_each_tick() -> None:
    clock = Clock()
    run = coordinator(clock=clock)
    run.call(REGISTER, registration())
    for clock.now in (1.0, 2.0, 3.0):
        assert not run.tick()
    clock.now = 3.5
    assert run.tick()
    assert run.status()[0].phase is Phase.LOST


def test_a_stop_and_a_suspicion_reach_the_nodes() -> None:
    run = coordinator(2)
    run.call(REGISTER, registration())
    run.suspect()
    run.stop("enough")
    assert run.call(REGISTER, registration())["stop"] == "Spark lost a task of the run"


def test_it_is_told_when_a_node_has_left() -> None:
    left: list[bool] = []
    run = Coordinator(Gang(Plan.of(1), Timeouts(), now=0.0), on_left=lambda: left.append(True))
    run.call(REGISTER, registration())
    run.call(ENDED, ended())
    assert left == []
    run.call(LEFT, {"rank": 0, "incarnation": "first"})
    assert left == [True]
    assert run.is_settled


@pytest.mark.parametrize("rank", [None, "0", 1.0])
def test_a_rank_that_is_no_number_is_refused(rank: Json) -> None:
    with pytest.raises(TypeError, match="is no number of a node"):
        coordinator(2).call(HEARTBEAT, {"rank": rank, **SIGN})


def test_a_method_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(UnknownMethod):
        coordinator().call("dance", {"rank": 0})


def test_an_end_that_can_not_be_read_leaves_the_node_running() -> None:
    run = coordinator()
    run.call(REGISTER, registration())
    with pytest.raises(CorruptRecord, match="the end of node 0"):
        run.call(ENDED, {**ended(), "record": "{}"})
    assert run.present == 1


@pytest.mark.parametrize(
    "wrong",
    [{"metrics": []}, {"metrics": {"loss": "x"}}, {"lines": "x"}, {"idle_seconds": None}, {"notes": 1}],
)
def test_a_sign_that_is_none_is_refused(wrong: Mapping[str, Json]) -> None:
    with pytest.raises(TypeError, match="is no "):
        parse_heartbeat({**SIGN, **wrong})


def test_output_is_shown_as_it_comes_with_beats_and_with_the_end() -> None:
    shown: list[tuple[int, tuple[str, ...]]] = []
    run = coordinator(on_lines=lambda rank, lines: shown.append((rank, lines)))
    run.call(REGISTER, registration())
    run.call(HEARTBEAT, {"rank": 0, **SIGN, "lines": ["a", "b"]})
    run.call(HEARTBEAT, {"rank": 0, **SIGN})
    run.call(ENDED, ended(lines=["c"]))
    assert shown == [(0, ("a", "b")), (0, ("c",))]


def test_output_that_is_shown_slowly_holds_up_no_other_node() -> None:
    showing, go_on = threading.Event(), threading.Event()

    def show(rank: int, lines: tuple[str, ...]) -> None:
        showing.set()
        assert go_on.wait(10)

    run = coordinator(2, on_lines=show)
    slow = threading.Thread(target=run.call, args=(HEARTBEAT, {"rank": 0, **SIGN, "lines": ["a"]}))
    slow.start()
    assert showing.wait(10)
    assert run.call(REGISTER, registration(1))["stop"] is None
    go_on.set()
    slow.join()
