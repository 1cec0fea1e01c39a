"""What travels between workers and their driver comes out as it went in."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.codec.records import from_json, to_json
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import (
    METHOD_NAMED,
    METHOD_OF,
    METHODS,
    Arrive,
    AskTrial,
    Beat,
    Ended,
    Judgement,
    Left,
    NextTrial,
    Noted,
    Reply,
    ReportTrial,
    Verdict,
)
from hopyard.protocol.node_status import Heartbeat
from hopyard.tracking import NodeOutcome, NodeState, TrialRecord, TrialState
from hopyard.wire import Json

pytestmark = pytest.mark.unit

SIGN = Heartbeat(
    step=3,
    metrics={"loss": 0.5, "diverged": math.inf, "$float": -1.0},
    idle_seconds=1.25,
    lines=("one", "ünïcode"),
    notes={"tensorboard": "http://here:6006"},
)
RECORD = NodeOutcome(
    rank=2,
    role="worker",
    host="there",
    state=NodeState.FAILED,
    exit_code=3,
    error_type="ValueError",
    message="no luck",
    traceback="Traceback…",
    tail=("last", "words"),
    started=1.0,
    ended=2.5,
)
TRIAL = TrialRecord(
    number=7,
    params={"rate": 0.1, "layers": [1, 2], "odd": math.inf},
    state=TrialState.FINISHED,
    values=(1.0, math.inf),
    result={"metric": 1.0},
    folder="rate=0.1",
)
ASSIGNMENT = Assignment.of(
    7, params={"rate": 0.1, "name": None}, arguments={"f": max}, folder="rate=0.1", attempt=2
)
MESSAGES = [
    Arrive(number=2, incarnation="a", address="10.0.0.2:80", host="there"),
    Beat(number=2, incarnation="a", heartbeat=SIGN),
    Beat(number=2, incarnation="a", heartbeat=Heartbeat()),
    Ended(number=2, incarnation="a", record=RECORD, heartbeat=SIGN),
    Left(number=2, incarnation="a"),
    AskTrial(number=2, incarnation="a", host="there"),
    AskTrial(number=2, incarnation="a", host="there", ended=TRIAL),
    ReportTrial(number=2, incarnation="a", trial=7, points=()),
    ReportTrial(number=2, incarnation="a", trial=7, points=((1, {"loss": 0.5}), (2, {"loss": math.inf}))),
]
ANSWERS = [
    Reply(again=0.2),
    Reply(again=1.0, members=ClusterMap(by_role={"chief": ("a:1",), "worker": ("b:2", "c:3"), "ps": ()})),
    Reply(again=1.0, stop="enough"),
    Reply(again=1.0, release=7.5),
    Reply(again=1.0, release=math.inf),
    NextTrial(again=0.5),
    NextTrial(trial=ASSIGNMENT),
    NextTrial(leave="the study is done"),
    *(Judgement(verdict=verdict) for verdict in Verdict),
    Noted(),
]


def name_of(value: object) -> str:
    return type(value).__name__


def travelled(value: object) -> dict[str, Json]:
    """Returns what of a message or an answer arrives at the other end."""
    arrived: dict[str, Json] = json.loads(json.dumps(to_json(value), allow_nan=False))
    return arrived


def test_there_is_an_example_of_each_message_and_each_answer() -> None:
    assert {type(message) for message in MESSAGES} == {method.message for method in METHODS}
    assert {type(answer) for answer in ANSWERS} == {method.answer for method in METHODS}


@pytest.mark.parametrize("value", [*MESSAGES, *ANSWERS], ids=name_of)
def test_a_message_or_an_answer_is_the_same_after_its_way(value: object) -> None:
    assert from_json(type(value), travelled(value)) == value


@pytest.mark.parametrize("value", [*MESSAGES, *ANSWERS], ids=name_of)
def test_fields_of_a_later_version_are_let_go(value: object) -> None:
    assert from_json(type(value), {**travelled(value), "from": {"the": ["future"]}}) == value


def test_fields_of_a_later_version_are_let_go_inside_of_a_message_too() -> None:
    told: dict[str, Any] = travelled(MESSAGES[1])
    told["heartbeat"]["mood"] = "good"
    assert from_json(Beat, told) == MESSAGES[1]


def test_what_a_record_in_a_message_does_not_know_is_kept_with_it() -> None:
    told: dict[str, Any] = travelled(MESSAGES[3])
    told["record"]["mood"] = "good"
    assert from_json(Ended, told).record.extra == {"mood": "good"}


def test_a_value_that_is_no_number_arrives_as_such() -> None:
    sign = Heartbeat(metrics={"loss": math.nan})
    arrived = from_json(Beat, travelled(Beat(number=0, incarnation="a", heartbeat=sign)))
    assert math.isnan(arrived.heartbeat.metrics["loss"])


@pytest.mark.parametrize("message", MESSAGES, ids=name_of)
def test_a_message_that_does_not_tell_who_sends_it_is_refused(message: object) -> None:
    for field in ("number", "incarnation"):
        told = {name: value for name, value in travelled(message).items() if name != field}
        with pytest.raises(ValueError, match=f"the field '{field}' is missing"):
            from_json(type(message), told)


@pytest.mark.parametrize(
    ("answer", "wrong", "field"),
    [
        (Reply, {"again": "soon"}, "again"),
        (Reply, {"again": 1.0, "members": {"by_role": {"chief": "a:1"}}}, "members"),
        (Reply, {"again": 1.0, "members": {"by_role": {"chief": [1]}}}, "members"),
        (NextTrial, {"trial": {"number": 1}}, "trial"),
        (NextTrial, {"trial": {**to_json(ASSIGNMENT), "arguments": "no base64"}}, "arguments"),
        (Judgement, {"verdict": "perhaps"}, "verdict"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_its_field(
    answer: type, wrong: Mapping[str, Json], field: str
) -> None:
    with pytest.raises(ValueError, match=f"the field '{field}'"):
        from_json(answer, wrong)


def test_each_method_is_found_by_its_name_and_by_its_message() -> None:
    for method in METHODS:
        assert METHOD_NAMED[method.name] is method
        assert METHOD_OF[method.message] is method
    assert len(METHOD_NAMED) == len(METHOD_OF) == len(METHODS)


NAMES = st.text(max_size=8) | st.just("$float")
FLOATS = st.floats(allow_nan=False)
SIGNS = st.builds(
    Heartbeat,
    step=st.none() | st.integers(),
    metrics=st.dictionaries(NAMES, FLOATS, max_size=3),
    idle_seconds=FLOATS,
    lines=st.lists(st.text(max_size=8), max_size=3).map(tuple),
    notes=st.dictionaries(NAMES, st.text(max_size=8), max_size=3),
)


@settings(max_examples=200)
@given(
    st.builds(Beat, number=st.integers(), incarnation=st.text(max_size=8), heartbeat=SIGNS)
    | st.builds(
        ReportTrial,
        number=st.integers(),
        incarnation=st.text(max_size=8),
        trial=st.integers(),
        points=st.lists(st.tuples(st.integers(), st.dictionaries(NAMES, FLOATS, max_size=3)), max_size=3).map(
            tuple
        ),
    )
    | st.builds(
        Reply,
        again=FLOATS,
        members=st.none()
        | st.builds(
            ClusterMap,
            by_role=st.dictionaries(NAMES, st.lists(st.text(max_size=8), max_size=3).map(tuple), max_size=3),
        ),
        stop=st.none() | st.text(max_size=8),
        release=st.none() | FLOATS,
    )
)
def test_any_message_is_the_same_after_its_way(value: object) -> None:
    assert from_json(type(value), travelled(value)) == value
