from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.codec.records import decode, encode_file, encode_line, from_json, to_json
from hopyard.errors import CorruptRecord
from hopyard.tracking.records import (
    MetricPoint,
    NodeOutcome,
    Record,
    RunRecord,
    StudyRecord,
    TrialRecord,
)
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import Direction, NodeState, RunState, TrialState

pytestmark = pytest.mark.unit

RUN = RunRecord(
    id=RunId("app-1", "launcher", 3),
    name="digits",
    state=RunState.RUNNING,
    backend="spark",
    nodes=2,
    user="ada",
    version="0.1.0",
    started=100.0,
    updated=110.5,
    heartbeat_seconds=10.0,
    details={"lr": 0.1, "layers": [64, 32]},
)

floats = st.floats(allow_nan=True, allow_infinity=True)
finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(max_size=12)
names = st.text("abz09._-", min_size=1, max_size=8)
counts = st.integers(0, 10**12)
run_ids = st.builds(RunId, names, names, counts)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | floats
    | text
    | st.sampled_from(["NaN", "Infinity", "$float"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(text | st.sampled_from(["$", "$float", "$$float"]), inner, max_size=3)
    ),
    max_leaves=6,
)
mappings = st.dictionaries(text | st.just("$float"), values, max_size=3)
unknown = st.dictionaries(text.map("future-{}".format), st.none() | st.integers() | finite | text, max_size=3)
shared: dict[str, Any] = {"schema": st.integers(1, 99), "extra": unknown}
records: st.SearchStrategy[Record] = st.one_of(
    st.builds(
        RunRecord, id=run_ids, name=text, description=text, state=st.sampled_from(RunState), backend=text, nodes=counts,
        user=text, version=text, started=floats, ended=st.none() | floats, updated=floats, heartbeat_seconds=floats,
        error=st.none() | text, value=st.none() | text, details=mappings,
        roles=st.lists(text, max_size=3).map(tuple), attempts=counts, restarts=st.lists(text, max_size=3).map(tuple),
        **shared,
    ),
    st.builds(
        NodeOutcome, rank=counts, role=text, host=text, state=st.sampled_from(NodeState), exit_code=st.none() | counts,
        signal=st.none() | counts, error_type=st.none() | text, message=st.none() | text, traceback=st.none() | text,
        tail=st.lists(text, max_size=3).map(tuple), started=floats, ended=floats, attempt=counts, **shared,
    ),
    st.builds(
        MetricPoint, name=text, step=st.integers(), value=floats, time=floats, rank=counts, attempt=counts, **shared,
    ),
    st.builds(
        StudyRecord, run=run_ids, objectives=st.lists(text, max_size=3).map(tuple),
        directions=st.lists(st.sampled_from(Direction), max_size=3).map(tuple), sampler=text, pruner=st.none() | text,
        space=mappings, trials=st.none() | counts, parallel=counts, counts=mappings, best_trial=st.none() | counts,
        best_value=st.none() | floats, best_folder=st.none() | text, **shared,
    ),
    st.builds(
        TrialRecord, number=counts, params=mappings, state=st.sampled_from(TrialState),
        values=st.lists(floats, max_size=3).map(tuple), result=mappings, folder=text, attempt=counts,
        slot=st.none() | counts, host=text, started=st.none() | floats, ended=st.none() | floats,
        error_type=st.none() | text, error=st.none() | text, traceback=st.none() | text, **shared,
    ),
)  # fmt: skip


def stored(record: Record) -> dict[str, Any]:
    value = json.loads(encode_file(record))
    assert isinstance(value, dict)
    return value


def as_bytes(**changes: object) -> bytes:
    return json.dumps(stored(RUN) | changes).encode()


def without(field: str) -> bytes:
    return json.dumps({name: value for name, value in stored(RUN).items() if name != field}).encode()


def same(left: object, right: object) -> bool:
    """Equality in which NaN equals NaN, and 1 differs from 1.0 and True."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if type(left) is not type(right):
        return False
    if dataclasses.is_dataclass(left) and dataclasses.is_dataclass(right):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


@given(records)
@settings(max_examples=80, deadline=None)
def test_every_record_comes_back_as_it_went(record: Record) -> None:
    assert same(decode(type(record), encode_file(record), "r"), record)
    assert same(decode(type(record), encode_line(record), "r"), record)


@given(records)
@settings(max_examples=30, deadline=None)
def test_a_stored_record_is_strict_json_on_one_line(record: Record) -> None:
    line = encode_line(record)
    assert b"\n" not in line
    json.loads(line, parse_constant=pytest.fail)


@given(records, st.data())
@settings(max_examples=40, deadline=None)
def test_a_truncated_record_is_corrupt_and_never_a_different_record(
    record: Record, data: st.DataObject
) -> None:
    whole = encode_line(record)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(CorruptRecord):
        decode(type(record), whole[:cut], "r")


@given(st.binary(max_size=40))
@settings(max_examples=60, deadline=None)
def test_arbitrary_bytes_are_corrupt_with_their_path_and_nothing_else(data: bytes) -> None:
    with pytest.raises(CorruptRecord) as caught:
        decode(RunRecord, data, "runs/run.json")
    assert caught.value.path == "runs/run.json"


def test_a_run_id_is_stored_as_its_text() -> None:
    assert stored(RUN)["id"] == "app-1/launcher/run.3"


def test_numbers_that_json_cannot_spell_are_stored_as_words() -> None:
    point = MetricPoint(name="loss", step=1, value=math.nan, time=math.inf)
    assert stored(point)["value"] == "NaN"
    assert stored(point)["time"] == "Infinity"


def test_a_record_with_a_nan_equals_itself_after_reading_it_twice() -> None:
    line = encode_line(MetricPoint(name="loss", step=1, value=float("nan"), time=0.0))
    assert decode(MetricPoint, line, "m") == decode(MetricPoint, line, "m")


def test_fields_of_a_newer_version_survive_a_read_modify_write() -> None:
    newer = as_bytes(schema=7, carbon={"grams": [1, {"$new": None}]})
    changed = dataclasses.replace(decode(RunRecord, newer, "r"), state=RunState.FINISHED)
    again = stored(changed)
    assert again["schema"] == 7
    assert again["carbon"] == {"grams": [1, {"$new": None}]}
    assert again["state"] == "FINISHED"


def test_a_field_that_an_older_version_did_not_write_takes_its_default() -> None:
    assert decode(RunRecord, without("details"), "r").details == {}


def test_records_from_before_attempts_are_those_of_the_first_one() -> None:
    run = {
        name: value for name, value in stored(RUN).items() if name not in ("roles", "attempts", "restarts")
    }
    assert decode(RunRecord, json.dumps(run).encode(), "run.json") == RUN
    point = MetricPoint(name="loss", step=1, value=0.5, time=1.0)
    assert decode(MetricPoint, b'{"name":"loss","step":1,"value":0.5,"time":1.0}', "00001.jsonl") == point


def test_a_missing_field_is_named() -> None:
    with pytest.raises(CorruptRecord, match="'started' is missing"):
        decode(RunRecord, without("started"), "r")


def test_an_unknown_state_names_the_file_the_field_and_the_known_ones() -> None:
    with pytest.raises(CorruptRecord) as caught:
        decode(RunRecord, as_bytes(state="PAUSED"), "Logs/run.json")
    for part in ("Logs/run.json", "'state'", "'PAUSED'", "FINISHED"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", "2"),
        ("nodes", True),
        ("nodes", 2.0),
        ("nodes", None),
        ("started", "yesterday"),
        ("started", None),
        ("started", True),
        ("started", 10**400),
        ("name", 7),
        ("details", [1]),
        ("details", {"x": {"$float": "many"}}),
        ("id", "app-1/launcher"),
        ("id", "app-1/launcher/run.03"),
        ("state", ["RUNNING"]),
    ],
)
def test_a_value_of_the_wrong_type_is_corrupt_and_its_field_is_named(field: str, value: object) -> None:
    with pytest.raises(CorruptRecord, match=f"'{field}'"):
        decode(RunRecord, as_bytes(**{field: value}), "r")


@pytest.mark.parametrize(
    "data", [b"", b"null", b"[1]", b'"text"', b'{"nodes": NaN}', b"\xff{}", b"[" * 100_000]
)
def test_what_is_not_a_json_object_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptRecord):
        decode(RunRecord, data, "r")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", 2.5),
        ("name", None),
        ("state", "RUNNING"),
        ("details", {1: 2}),
        ("details", {"fn": print}),
        ("started", None),
    ],
)
def test_a_record_built_with_a_wrong_value_is_refused_on_writing(field: str, value: Any) -> None:
    with pytest.raises(TypeError):
        encode_file(dataclasses.replace(RUN, **{field: value}))


def test_extra_cannot_shadow_a_field() -> None:
    with pytest.raises(TypeError, match="name"):
        encode_file(dataclasses.replace(RUN, extra={"name": "other"}))


def test_a_corrupt_record_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(CorruptRecord("a/run.json", "empty")))
    assert (error.path, error.reason) == ("a/run.json", "empty")


def test_records_survive_pickling() -> None:
    assert pickle.loads(pickle.dumps(RUN)) == RUN


# --- what is no record, but travels ----------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    text: str
    number: int = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    """Something of each kind that may travel beside what records are made of."""

    inner: Inner
    maybe: Inner | None = None
    many: tuple[Inner, ...] = ()
    data: bytes = b""
    pair: tuple[int, str] = (0, "")
    points: tuple[tuple[int, Mapping[str, float]], ...] = ()
    places: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    metrics: Mapping[str, float] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    run: RunRecord | None = None


FULL = Outer(
    inner=Inner(text="a", number=1),
    maybe=Inner(text="b"),
    many=(Inner(text="c"), Inner(text="d", number=4)),
    data=bytes(range(256)),
    pair=(7, "seven"),
    points=((1, {"loss": math.inf}), (2, {})),
    places={"chief": ("a:1",), "$ps": ("b:2", "c:3"), "nobody": ()},
    metrics={"loss": -math.inf, "$float": 1.0},
    notes={"$float": "NaN"},
    run=RUN,
)


def travelled(value: object) -> dict[str, Any]:
    arrived = json.loads(json.dumps(to_json(value), allow_nan=False))
    assert isinstance(arrived, dict)
    return arrived


@pytest.mark.parametrize("value", [FULL, Outer(inner=Inner(text=""))], ids=["full", "least"])
def test_a_dataclass_of_dataclasses_comes_back_as_it_went(value: Outer) -> None:
    assert same(from_json(Outer, travelled(value)), value)


def test_bytes_are_stored_as_base64() -> None:
    assert travelled(dataclasses.replace(FULL, data=b"\xff\x00"))["data"] == "/wA="


def test_a_mapping_of_tuples_is_stored_with_its_keys_as_they_are() -> None:
    assert travelled(FULL)["places"] == {"chief": ["a:1"], "$ps": ["b:2", "c:3"], "nobody": []}


def test_what_has_no_extra_lets_unknown_fields_go() -> None:
    newer = {**travelled(FULL), "from": {"the": "future"}}
    newer["inner"]["mood"] = "good"
    newer["many"][0]["mood"] = "good"
    assert from_json(Outer, newer) == FULL


def test_a_record_within_keeps_unknown_fields() -> None:
    newer = travelled(FULL)
    newer["run"]["mood"] = "good"
    found = from_json(Outer, newer).run
    assert found is not None
    assert found.extra == {"mood": "good"}
    assert travelled(dataclasses.replace(FULL, run=found))["run"]["mood"] == "good"


def test_a_field_that_is_missing_within_is_named_with_where_it_is_missing() -> None:
    with pytest.raises(ValueError, match="the field 'inner' is missing"):
        from_json(Outer, {})
    with pytest.raises(ValueError, match="the field 'inner': the field 'text' is missing"):
        from_json(Outer, {"inner": {"number": 1}})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inner", None),
        ("inner", [1]),
        ("inner", {"text": 1}),
        ("maybe", "text"),
        ("many", {"text": "a"}),
        ("many", [{"text": "a"}, {}]),
        ("data", "not base64!"),
        ("data", "abc"),
        ("data", "/wA=\n"),
        ("data", "ü"),
        ("data", 7),
        ("data", None),
        ("pair", []),
        ("pair", [1]),
        ("pair", [1, "a", "b"]),
        ("pair", ["a", 1]),
        ("pair", {"0": 1}),
        ("points", [[1]]),
        ("points", [[1, {"loss": "x"}]]),
        ("points", [[1.0, {}]]),
        ("points", [{"step": 1}]),
        ("places", ["a:1"]),
        ("places", {"chief": "a:1"}),
        ("places", {"chief": [1]}),
        ("places", {"chief": None}),
        ("metrics", {"loss": "0.5"}),
        ("metrics", {"loss": None}),
        ("metrics", {"loss": True}),
        ("metrics", [1.0]),
        ("notes", {"tensorboard": 6006}),
        ("run", {"id": "app-1/launcher/run.3"}),
    ],
)
def test_what_arrives_with_a_wrong_value_is_refused_and_its_field_is_named(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"the field '{field}'"):
        from_json(Outer, {**travelled(FULL), field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("data", "text"),
        ("data", None),
        ("inner", None),
        ("pair", (1, 2)),
        ("places", {"chief": (1,)}),
        ("metrics", {"loss": None}),
        ("notes", {"tensorboard": 6006}),
    ],
)
def test_what_was_built_with_a_wrong_value_is_refused_before_it_travels(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=rf"Outer\.{field}"):
        to_json(dataclasses.replace(FULL, **{field: value}))
