from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from hopyard.errors import InvalidMessage, MessageTooLarge
from hopyard.wire.message import Json, decode, encode

pytestmark = pytest.mark.unit


def round_trip(message: Mapping[str, Json]) -> dict[str, Json]:
    return decode(encode(message, doing="test", limit=1000), doing="test", limit=1000)


def test_a_message_comes_back_equal() -> None:
    message: dict[str, Json] = {"a": [1, 2.5, None, True], "ä€😀": {"b": ""}}
    assert round_trip(message) == message


def test_any_mapping_is_a_message() -> None:
    assert round_trip(MappingProxyType({"a": 1})) == {"a": 1}


def test_a_diverged_metric_travels() -> None:
    back = round_trip({"loss": math.nan, "bound": -math.inf})
    assert math.isnan(back["loss"])  # type: ignore[arg-type]
    assert back["bound"] == -math.inf


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), "\ud800"])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(InvalidMessage):
        encode({"a": value}, doing="test", limit=1000)  # type: ignore[dict-item]


def test_a_message_over_the_limit_is_refused_with_size_and_limit() -> None:
    with pytest.raises(MessageTooLarge) as caught:
        encode({"a": "x" * 100}, doing="call report", limit=50)
    assert (caught.value.size, caught.value.limit) == (108, 50)
    assert "max_message_bytes" in str(caught.value)


def test_a_body_over_the_limit_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(MessageTooLarge):
        decode(b"not even json", doing="test", limit=5)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff{}", "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b"[1]", "a list"),
        (b"null", "a NoneType"),
        (b"{", "Expecting"),
        (b"", "Expecting"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(InvalidMessage, match=reason):
        decode(body, doing="test", limit=1 << 20)
