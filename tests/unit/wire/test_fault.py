from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest
from pyarrow import flight

from hopyard.errors import PeerGone, RemoteError, WireTimeout
from hopyard.wire import Json, Service, WireClient, WireServer
from hopyard.wire.fault import Exchange, error_of

pytestmark = pytest.mark.unit

EXCHANGE = Exchange(peer="h:1", doing="call x", seconds=2.0, setting="timeout")


class Clumsy(Service):
    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        password = "hunter2"
        match method:
            case "exit":
                raise SystemExit(password[:1])
            case "long":
                raise ValueError("€" * 100_000)
            case "odd":
                raise ValueError("\ud800")
        raise LookupError(f"no entry for {message['name']}")


def failure_of(method: str) -> RemoteError:
    with WireServer(Clumsy(), address="127.0.0.1") as server, WireClient(server.endpoint) as client:
        with pytest.raises(RemoteError) as caught:
            client.call(method, {"name": "ada"})
        assert caught.value.peer == server.endpoint.peer
    return caught.value


def test_a_service_that_raises_tells_type_and_text() -> None:
    error = failure_of("find")
    assert (error.doing, error.kind, error.message) == ("call find", "LookupError", "no entry for ada")


def test_the_stack_trace_stays_in_the_log_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    error = failure_of("find")
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert "hunter2" not in str(error)
    assert "Traceback" not in str(error.__context__)
    assert "Traceback" not in str(error)
    assert 'raise LookupError(f"no entry for' in caplog.text


def test_a_service_that_exits_is_a_failure_like_any_other() -> None:
    assert failure_of("exit").kind == "SystemExit"


def test_a_long_text_is_cut() -> None:
    assert failure_of("long").message == "€" * 800


def test_a_text_that_is_no_utf8_arrives(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL")  # pytest could not send this text to its own reporting process
    assert failure_of("odd").message == "\ud800"


@pytest.mark.parametrize("detail", [b"", b"garbage", b"[1]", b"{}", b'{"type":1}', b"x" * 100_000])
def test_an_error_without_a_proper_detail_is_about_the_connection(detail: bytes) -> None:
    error = error_of(flight.FlightUnavailableError("gone. gRPC client debug context: long", detail), EXCHANGE)
    assert isinstance(error, PeerGone)
    assert error.reason == "gone"


@pytest.mark.parametrize(
    "error", [PeerGone("h:1", "call x", "why"), WireTimeout("h:1", "call x", 2.0, "timeout")], ids=repr
)
def test_an_error_survives_pickling(error: Exception) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back)) == (type(error), str(error))
