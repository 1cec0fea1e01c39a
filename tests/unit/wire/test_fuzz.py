"""Ten thousand inputs from strangers, and from friends who talk nonsense, against one live server.

HOPYARD_FUZZ_SCALE multiplies the counts, HOPYARD_FUZZ_SEED changes the inputs; both are for long runs.
"""

from __future__ import annotations

import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil
import pyarrow
import pytest
from pyarrow import flight

from hopyard.wire import Endpoint, WireClient

from . import http2, peer
from .conftest import Peer
from .http2 import Call

pytestmark = pytest.mark.cluster

SCALE = int(os.environ.get("HOPYARD_FUZZ_SCALE", "1"))
SEED = int(os.environ.get("HOPYARD_FUZZ_SEED", "20"))

RANDOM_BYTES = 1520 * SCALE
BENT_RECORDINGS = 2000 * SCALE
STRANGE_CALLS = 2500 * SCALE
LIBRARY_CALLS = 180 * SCALE
BAD_MESSAGES = 2500 * SCALE
BAD_STREAMS = 1300 * SCALE
assert (
    RANDOM_BYTES + BENT_RECORDINGS + STRANGE_CALLS + LIBRARY_CALLS + BAD_MESSAGES + BAD_STREAMS
    == 10_000 * SCALE
)

CALLS_PER_CONNECTION = 50
REFUSED = (flight.FlightUnauthenticatedError, OSError)  # get_schema of pyarrow loses the type
MESSAGE = b'{"epoch":3,"loss":[0.25,{"x":null}],"name":"run \xc3\xa4"}'


@dataclass(frozen=True, slots=True)
class Target:
    """The server under attack."""

    server: Peer
    endpoint: Endpoint
    client: WireClient

    @property
    def address(self) -> tuple[str, int]:
        return self.endpoint.host, self.endpoint.port

    @property
    def bearer(self) -> bytes:
        return f"Bearer {self.endpoint.token}".encode()

    def seen(self) -> int:
        """How often the service was reached; asking is itself a proper call that has to work."""
        seen = self.client.call("seen", {})["seen"]
        assert isinstance(seen, int)
        return seen

    def check_silence(self, answer: bytes) -> None:
        token = self.endpoint.token.encode()
        assert not any(token[start : start + 8] in answer for start in range(len(token) - 8))


@pytest.fixture(scope="module")
def target(start_peer: Callable[[str], Peer]) -> Iterator[Target]:
    server = start_peer("witness")
    endpoint = server.endpoint()
    with WireClient(endpoint) as client:
        client.call("seen", {})
        process = psutil.Process(server.process.pid)
        memory, threads, descriptors = process.memory_info().rss, process.num_threads(), process.num_fds()
        yield Target(server, endpoint, client)
        assert process.memory_info().rss < memory + (200 << 20)
        assert process.num_threads() < threads + 50
        assert process.num_fds() < descriptors + 50
    assert server.dismiss() == 0
    assert server.stderr.read_text() == ""


@pytest.fixture
def rng() -> random.Random:
    return random.Random(SEED)


def test_random_bytes_get_nothing_and_do_no_harm(target: Target, rng: random.Random) -> None:
    before = target.seen()
    for number in range(RANDOM_BYTES):
        target.check_silence(_throw(target.address, rng.randbytes(rng.randrange(1, 200))))
        if number % 500 == 0:
            assert target.seen() == before
    assert target.seen() == before


def test_bent_http2_of_a_stranger_gets_nothing_and_does_no_harm(target: Target, rng: random.Random) -> None:
    before = target.seen()
    recording = _record(target.endpoint)
    for number in range(BENT_RECORDINGS):
        target.check_silence(_throw(target.address, _bend(recording, rng)))
        if number % 500 == 0:
            assert target.seen() == before
    assert target.seen() == before


def test_no_flight_method_answers_without_the_token(target: Target, rng: random.Random) -> None:
    before = target.seen()
    for _ in range(STRANGE_CALLS // CALLS_PER_CONNECTION):
        calls = [_stranger(target, rng) for _ in range(CALLS_PER_CONNECTION)]
        answer = http2.converse(target.address, calls)
        target.check_silence(answer)
        assert b"not served" not in answer
    assert target.seen() == before


@pytest.mark.parametrize("token", ["", "wrong"])
def test_the_library_s_own_client_gets_nothing_with_another_token(target: Target, token: str) -> None:
    before = target.seen()
    options = flight.FlightCallOptions(timeout=5, headers=[(b"authorization", b"Bearer " + token.encode())])
    with flight.FlightClient(target.endpoint.uri) as client:
        attempts = _attempts(client, options if token else flight.FlightCallOptions(timeout=5))
        for _ in range(LIBRARY_CALLS // 2 // len(attempts)):
            for attempt in attempts:
                with pytest.raises(REFUSED, match=r"^no valid token"):
                    attempt()
    assert target.seen() == before


def test_bad_messages_of_a_friend_do_not_reach_the_service(target: Target, rng: random.Random) -> None:
    before = target.seen()
    for _ in range(BAD_MESSAGES // CALLS_PER_CONNECTION):
        bodies = [_bad_message(rng) for _ in range(CALLS_PER_CONNECTION)]
        calls = [
            Call(method="DoAction", messages=(http2.action("report", body),), authorization=(target.bearer,))
            for body in bodies
        ]
        target.check_silence(http2.converse(target.address, calls))
    assert target.seen() == before


def test_bad_streams_of_a_friend_do_no_harm(target: Target, rng: random.Random) -> None:
    recording = _recorded_stream()
    for _ in range(BAD_STREAMS // CALLS_PER_CONNECTION):
        calls = [
            Call(method="DoPut", messages=_bad_stream(recording, rng), authorization=(target.bearer,))
            for _ in range(CALLS_PER_CONNECTION)
        ]
        target.check_silence(http2.converse(target.address, calls))
    reply = target.client.put("sink", peer.BATCH.schema, [peer.BATCH] * 3)
    assert reply == {"rows": 3 * peer.BATCH.num_rows}


def _throw(address: tuple[str, int], data: bytes) -> bytes:
    """Sends bytes and hangs up its own end; returns what the server said until it hung up too."""
    answer = b""
    with socket.create_connection(address, timeout=10) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                answer += part
        except ConnectionError:
            # hanging up in the middle is a proper answer to nonsense
            return answer
    return answer


def _record(endpoint: Endpoint) -> bytes:
    """Returns what a real client with a wrong token sends, over a relay that listens in."""
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        relay = threading.Thread(target=_relay, args=(listener, (endpoint.host, endpoint.port), heard))
        relay.start()
        port = listener.getsockname()[1]
        options = flight.FlightCallOptions(timeout=5, headers=[(b"authorization", b"Bearer wrong")])
        with flight.FlightClient(f"grpc+tcp://127.0.0.1:{port}") as client:
            for attempt in _attempts(client, options):
                with pytest.raises(REFUSED):
                    attempt()
        del client
        relay.join(timeout=10)
    assert b"PRI * HTTP/2.0" in heard
    return bytes(heard)


def _relay(listener: socket.socket, target: tuple[str, int], heard: bytearray) -> None:
    inner, _ = listener.accept()
    with inner, socket.create_connection(target) as outer:
        back = threading.Thread(target=_copy, args=(outer, inner))
        back.start()
        _copy(inner, outer, heard)
        back.join()


def _copy(source: socket.socket, sink: socket.socket, heard: bytearray | None = None) -> None:
    try:
        while data := source.recv(65536):
            if heard is not None:
                heard += data
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # one end hung up: so does the other
        sink.close()


def _attempts(client: flight.FlightClient, options: flight.FlightCallOptions) -> list[Callable[[], object]]:
    descriptor = flight.FlightDescriptor.for_path("sink")
    return [
        lambda: list(client.do_action(("seen", MESSAGE), options)),
        lambda: list(client.list_actions(options)),
        lambda: list(client.list_flights(options=options)),
        lambda: client.get_flight_info(descriptor, options),
        lambda: client.get_schema(descriptor, options),
        lambda: client.do_get(flight.Ticket(b"source"), options).read_all(),
        lambda: client.do_put(descriptor, peer.BATCH.schema, options)[1].read(),
        lambda: client.do_exchange(descriptor, options)[1].read_chunk(),
        lambda: client.authenticate_basic_token("user", "password", options),
    ]


def _bend(recording: bytes, rng: random.Random) -> bytes:
    data = bytearray(recording)
    match rng.randrange(4):
        case 0:
            del data[rng.randrange(len(data)) :]
        case 1:
            for _ in range(rng.randrange(1, 8)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 2:
            start = rng.randrange(len(data))
            data[start:start] = rng.randbytes(rng.randrange(1, 64))
        case _:
            start = rng.randrange(len(data))
            del data[start : start + rng.randrange(1, 64)]
    return bytes(data)


def _stranger(target: Target, rng: random.Random) -> Call:
    bearer = target.bearer
    authorizations: list[tuple[bytes, ...]] = [
        (),
        (b"",),
        (b"Bearer ",),
        (bearer[:-1],),
        (bearer + b"x",),
        (bearer[7:],),
        (b"bearer" + bearer[6:],),
        (b"Basic " + bearer[7:],),
        (b"Bearer " + rng.randbytes(8).hex().encode(),),
        (bearer, b"Bearer x"),
        (bytes(rng.randrange(128, 256) for _ in range(8)),),
    ]
    messages = (http2.action("report", MESSAGE),) if rng.random() < 0.5 else (rng.randbytes(40),)
    return Call(method=rng.choice(http2.METHODS), messages=messages, authorization=rng.choice(authorizations))


def _bad_message(rng: random.Random) -> bytes:
    match rng.randrange(100):
        case 0:
            return b"[" * 500_000
        case 1:
            return b'{"a":' * 100_000
        case 2:
            return b'{"a":"' + b"x" * (1 << 20) + b'"}'
        case kind if kind < 30:
            return MESSAGE[: rng.randrange(len(MESSAGE))]
        case kind if kind < 50:
            return b"\xff" + rng.randbytes(rng.randrange(100))
        case kind if kind < 70:
            return MESSAGE.replace(b"run", bytes([rng.randrange(0xF8, 0x100)]))
        case _:
            return rng.choice(
                [b"", b"null", b"1", b'"x"', b"[]", b"[{}]", b"{]", b"{'a':1}", b"{}{}", b"\xef\xbb\xbf{}"]
            )


def _recorded_stream() -> list[tuple[bytes, bytes]]:
    """Header and body of the schema and of one batch, as Flight carries them."""
    batch = pyarrow.record_batch({"x": list(range(100)), "s": [str(n) for n in range(100)]})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    reader = pyarrow.ipc.MessageReader.open_stream(sink.getvalue())
    return [
        (message.metadata.to_pybytes(), (message.body or b"") and message.body.to_pybytes())
        for message in reader
    ]


def _bad_stream(recording: list[tuple[bytes, bytes]], rng: random.Random) -> tuple[bytes, ...]:
    (schema, _), (header, body) = recording
    if rng.random() < 0.3:
        schema = _bend(schema, rng)
    else:
        header, body = _bend(header, rng), _bend(body, rng)
    stream = "sink" if rng.random() < 0.9 else None
    return (http2.flight_data(schema, b"", stream=stream), http2.flight_data(header, body))
