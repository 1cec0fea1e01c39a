from __future__ import annotations

import gc
import itertools
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pyarrow
import pyarrow.compute
import pytest

from hopyard.errors import (
    InvalidMessage,
    MessageTooLarge,
    NotAuthenticated,
    PeerGone,
    RemoteError,
    SchemaMismatch,
    UnknownMethod,
    WireTimeout,
)
from hopyard.wire import Batches, BatchReader, Endpoint, Json, Service, WireClient, WireServer

pytestmark = pytest.mark.unit

BATCH = pyarrow.record_batch({"x": pyarrow.array(range(50_000), pyarrow.int64())})


class Workshop(Service):
    """One method or stream per thing that can happen."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.failed = threading.Event()
        self.drawn = 0
        self.released = threading.Event()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        match method:
            case "echo":
                return message
            case "wait":
                self.released.wait(10)
                return {}
            case "odd":
                return {"x": object()}  # type: ignore[dict-item]
        return super().call(method, message)

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        match stream:
            case "count":
                return {"rows": self._count(batches)}
            case "three":
                return {"rows": sum(batch.num_rows for batch in itertools.islice(batches, 3))}
            case "boom":
                next(iter(batches))
                raise ValueError("cannot use this batch")
        return super().receive(stream, batches)

    def send(self, stream: str) -> Batches:
        match stream:
            case "three":
                return pyarrow.RecordBatchReader.from_batches(BATCH.schema, [BATCH] * 3)
            case "endless":
                return pyarrow.RecordBatchReader.from_batches(BATCH.schema, self._endless())
            case "boom":
                return pyarrow.RecordBatchReader.from_batches(BATCH.schema, self._breaking())
        return super().send(stream)

    def exchange(self, stream: str, batches: BatchReader) -> Batches:
        match stream:
            case "double":
                return pyarrow.RecordBatchReader.from_batches(BATCH.schema, map(_doubled, batches))
            case "first":
                return pyarrow.RecordBatchReader.from_batches(BATCH.schema, itertools.islice(batches, 1))
            case "boom":
                return pyarrow.RecordBatchReader.from_batches(BATCH.schema, self._breaking())
        return super().exchange(stream, batches)

    def _count(self, batches: BatchReader) -> int:
        try:
            return sum(batch.num_rows for batch in batches)
        except PeerGone as error:
            self.failure = error
            self.failed.set()
            raise

    def _endless(self) -> Iterator[pyarrow.RecordBatch]:
        try:
            while True:
                self.drawn += 1
                yield BATCH
        finally:
            self.released.set()

    def _breaking(self) -> Iterator[pyarrow.RecordBatch]:
        yield BATCH
        raise ValueError("the file is cut off")


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


@pytest.fixture
def server(workshop: Workshop) -> Iterator[WireServer]:
    with WireServer(workshop, address="127.0.0.1", close_timeout=1) as server:
        yield server
        workshop.released.set()


@pytest.fixture
def client(server: WireServer) -> Iterator[WireClient]:
    with WireClient(server.endpoint, timeout=5) as client:
        yield client


def test_a_call_brings_the_answer(client: WireClient) -> None:
    assert client.call("echo", {"ä": [1, None]}) == {"ä": [1, None]}


def test_threads_share_a_client(client: WireClient) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: client.call("echo", {"n": number}), range(200)))
    assert answers == [{"n": number} for number in range(200)]


def test_an_unknown_method_is_told_apart_from_a_failure(client: WireClient) -> None:
    with pytest.raises(UnknownMethod) as caught:
        client.call("sing", {})
    assert caught.value.name == "sing"


def test_a_call_that_takes_too_long_names_the_peer_the_time_and_the_setting(
    client: WireClient, server: WireServer
) -> None:
    start = time.monotonic()
    with pytest.raises(WireTimeout) as caught:
        client.call("wait", {}, timeout=0.2)
    assert time.monotonic() - start < 2
    assert str(caught.value) == (
        f"{server.endpoint.peer} did not finish within 0.2 s (call wait); raise timeout to wait longer."
    )


def test_a_wrong_token_is_refused(server: WireServer) -> None:
    endpoint = Endpoint(host=server.endpoint.host, port=server.endpoint.port, token="guess")
    with WireClient(endpoint) as stranger, pytest.raises(NotAuthenticated):
        stranger.call("echo", {})


def test_a_message_over_the_limit_is_not_sent(server: WireServer) -> None:
    with WireClient(server.endpoint, max_message_bytes=100) as client, pytest.raises(MessageTooLarge):
        client.call("echo", {"x": "y" * 100})


def test_a_message_over_the_server_s_limit_is_refused_there() -> None:
    with (
        WireServer(Workshop(), address="127.0.0.1", max_message_bytes=100) as server,
        WireClient(server.endpoint) as client,
        pytest.raises(MessageTooLarge) as caught,
    ):
        client.call("echo", {"x": "y" * 100})
    assert caught.value.limit == 100


def test_an_answer_that_is_not_json_is_an_error(client: WireClient) -> None:
    with pytest.raises(InvalidMessage, match="not JSON serializable"):
        client.call("odd", {})


def test_nobody_at_the_address_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    start = time.monotonic()
    with WireClient(Endpoint(host="127.0.0.1", port=port, token="t")) as client, pytest.raises(PeerGone):
        client.call("echo", {})
    assert time.monotonic() - start < 2


def test_a_client_finds_a_server_that_came_back(workshop: Workshop) -> None:
    with WireServer(workshop, address="127.0.0.1", token="t") as first:
        client = WireClient(first.endpoint)
        client.call("echo", {})
    with client:
        with pytest.raises(PeerGone):
            client.call("echo", {})
        with WireServer(workshop, address="127.0.0.1", port=first.endpoint.port, token="t"):
            assert _eventually_answers(client)


def test_a_proxy_in_the_environment_is_not_used(server: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with WireClient(server.endpoint) as client:
        assert client.call("echo", {}) == {}


def test_a_stream_is_poured_and_answered(client: WireClient) -> None:
    assert client.put("count", BATCH.schema, [BATCH] * 20) == {"rows": 1_000_000}


def test_an_empty_stream_is_complete(client: WireClient) -> None:
    assert client.put("count", BATCH.schema, []) == {"rows": 0}


@pytest.mark.parametrize("rows", [10, 50_000])
def test_a_receiver_that_has_enough_stops_the_pouring(client: WireClient, rows: int) -> None:
    poured = itertools.count()
    batches = (BATCH.slice(0, rows) for _ in itertools.takewhile(lambda n: n < 2000, poured))
    assert client.put("three", BATCH.schema, batches) == {"rows": 3 * rows}
    assert rows < 50_000 or next(poured) < 200


def test_a_source_that_breaks_leaves_an_incomplete_stream(client: WireClient, workshop: Workshop) -> None:
    def breaking() -> Iterator[pyarrow.RecordBatch]:
        yield BATCH
        raise KeyError("row 7")

    with pytest.raises(KeyError, match="row 7"):
        client.put("count", BATCH.schema, breaking())
    assert workshop.failed.wait(5)
    assert "broke off" in str(workshop.failure)


@pytest.mark.parametrize("error", [OSError("disk"), pyarrow.ArrowInvalid("bad file")], ids=repr)
def test_an_error_of_the_source_is_not_taken_for_one_of_the_wire(
    client: WireClient, error: Exception
) -> None:
    def breaking() -> Iterator[pyarrow.RecordBatch]:
        yield BATCH
        raise error

    with pytest.raises(type(error), match=str(error)):
        client.put("count", BATCH.schema, breaking())
    with pytest.raises(type(error), match=str(error)):
        list(client.exchange("double", BATCH.schema, breaking()))


def test_a_batch_of_another_schema_is_refused(client: WireClient, workshop: Workshop) -> None:
    with pytest.raises(SchemaMismatch, match="y: string instead of x: int64"):
        client.put("count", BATCH.schema, [BATCH, pyarrow.record_batch({"y": ["a"]})])
    assert workshop.failed.wait(5)


def test_a_receiver_that_fails_ends_the_pouring(client: WireClient) -> None:
    with pytest.raises(RemoteError, match="cannot use this batch") as caught:
        client.put("boom", BATCH.schema, itertools.repeat(BATCH))
    assert caught.value.kind == "ValueError"


def test_pouring_past_the_deadline_names_its_setting(server: WireServer, workshop: Workshop) -> None:
    with (
        WireClient(server.endpoint, stream_timeout=0.3) as client,
        pytest.raises(WireTimeout, match="raise stream_timeout"),
    ):
        client.put("count", BATCH.schema, itertools.repeat(BATCH))
    assert workshop.failed.wait(5)


def test_an_unknown_stream_is_told_to_both_directions(client: WireClient) -> None:
    with pytest.raises(UnknownMethod):
        client.put("song", BATCH.schema, [BATCH])
    with pytest.raises(UnknownMethod):
        client.get("song")


def test_a_stream_is_drawn_batch_by_batch(client: WireClient) -> None:
    with client.get("three") as stream:
        assert stream.schema == BATCH.schema
        assert [batch.equals(BATCH) for batch in stream] == [True] * 3


def test_a_sender_that_fails_halfway_is_an_error_after_the_good_batches(client: WireClient) -> None:
    good = []
    with pytest.raises(RemoteError, match="the file is cut off"), client.get("boom") as stream:
        good.extend(stream)
    assert len(good) == 1


def test_a_client_that_has_enough_stops_the_sender(client: WireClient, workshop: Workshop) -> None:
    with client.get("endless") as stream:
        next(iter(stream))
    assert workshop.released.wait(5)
    assert workshop.drawn < 200


def test_a_slow_reader_slows_the_sender(client: WireClient, workshop: Workshop) -> None:
    with client.get("endless") as stream:
        for _ in itertools.islice(stream, 3):
            time.sleep(0.05)
        assert workshop.drawn < 200


def test_an_exchange_answers_while_it_is_poured_into(client: WireClient) -> None:
    with client.exchange("double", BATCH.schema, itertools.repeat(BATCH)) as answers:
        drawn = list(itertools.islice(answers, 5))
    assert all(batch.equals(_doubled(BATCH)) for batch in drawn)


def test_an_exchange_ends_with_what_was_poured(client: WireClient) -> None:
    answers = client.exchange("double", BATCH.schema, [BATCH] * 50)
    assert sum(batch.num_rows for batch in answers) == 50 * BATCH.num_rows


def test_an_exchange_that_has_enough_ends_the_pouring(client: WireClient) -> None:
    answers = client.exchange("first", BATCH.schema, itertools.repeat(BATCH))
    assert len(list(answers)) == 1


def test_answers_that_are_drawn_late_are_not_lost_when_the_service_has_enough(client: WireClient) -> None:
    answers = client.exchange("first", BATCH.schema, itertools.repeat(BATCH))
    time.sleep(0.2)  # gives the pouring thread the time to meet the end of the exchange
    assert [batch.equals(BATCH) for batch in answers] == [True]


def test_a_service_that_fails_in_an_exchange_is_an_error(client: WireClient) -> None:
    with pytest.raises(RemoteError, match="the file is cut off"):
        list(client.exchange("boom", BATCH.schema, itertools.repeat(BATCH)))


def test_an_exchange_that_fails_leaves_neither_thread_nor_noise(
    client: WireClient, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RemoteError):
        list(client.exchange("boom", BATCH.schema, itertools.repeat(BATCH)))
    for thread in threading.enumerate():
        if thread.name == "hopyard-wire-exchange boom":
            thread.join(5)
            assert not thread.is_alive()
    gc.collect()
    assert capfd.readouterr().err == ""


def test_a_source_that_breaks_in_an_exchange_raises_where_the_answers_are_drawn(client: WireClient) -> None:
    def breaking() -> Iterator[pyarrow.RecordBatch]:
        yield BATCH
        raise KeyError("row 7")

    with pytest.raises(KeyError, match="row 7"):
        list(client.exchange("double", BATCH.schema, breaking()))


def test_an_unknown_exchange_is_told(client: WireClient) -> None:
    with pytest.raises(UnknownMethod):
        list(client.exchange("song", BATCH.schema, [BATCH]))


def _doubled(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    return pyarrow.record_batch({"x": pyarrow.compute.multiply(batch.column("x"), 2)})


def _eventually_answers(client: WireClient) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            client.call("echo", {})
        except PeerGone:
            time.sleep(0.02)
        else:
            return True
    return False
