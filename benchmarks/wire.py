"""What the wire costs: control messages per second and bulk bytes per second, next to a bare socket.

Server and client are two processes on the loopback, and so are the two ends of the socket, which moves
the same bytes in the same minute. Run it as a script for a table.
"""

# ruff: noqa: ARG002 -- the signatures are those of Service

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection

import pyarrow
from benchmarks.feed_data import PIECE_ROWS, batch
from benchmarks.feed_rate import ROW_BYTES
from benchmarks.report import Table

from hopyard.feed.node.service import NOTHING, Confirmations
from hopyard.wire import Batches, BatchReader, Endpoint, Json, Service, Tagged, WireClient, WireServer

MESSAGE: dict[str, Json] = {"node": 3, "step": 12345, "metrics": {"loss": 0.125, "accuracy": 0.9375}}
DIFFERENT = 16  # pieces of a feed that are sent over and over
BATCH = pyarrow.record_batch({"x": pyarrow.array(range(1 << 17), pyarrow.int64())})  # 1 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A rate of the wire, and that of a bare socket that moves the same bytes."""

    wire: float
    socket: float

    @property
    def ratio(self) -> float:
        return self.wire / self.socket


class Counter(Service):
    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        return message

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        return {"rows": sum(batch.num_rows for batch in batches)}

    def exchange(self, stream: str, batches: BatchReader) -> Batches:
        return Confirmations(Tagged(NOTHING, b"kept") for _ in batches.tagged())


def round_trips(*, seconds: float = 0.5, rounds: int = 5, threads: int = 1, tls: bool = False) -> Measurement:
    """Control messages, each answered before the next is sent, per second."""
    body = json.dumps(MESSAGE).encode()
    with (
        _serving(tls=tls) as client,
        _connected(_echo, size=len(body)) as connection,
        ThreadPoolExecutor(threads) as pool,
    ):
        client.call("echo", MESSAGE)
        call = functools.partial(client.call, "echo", MESSAGE)
        return _alternate(
            lambda: sum(pool.map(lambda _: _rate(call, seconds), range(threads))),
            lambda: _rate(lambda: _ping(connection, body), seconds),
            rounds,
        )


def bulk(*, mebibytes: int = 512, rounds: int = 5, tls: bool = False) -> Measurement:
    """Record batches of 1 MiB poured into a server, in MB/s."""
    with _serving(tls=tls) as client, _connected(_drain, size=mebibytes * BATCH.nbytes) as connection:
        client.put("warm", BATCH.schema, [BATCH] * 64)
        return _alternate(
            lambda: mebibytes / _seconds(lambda: _pour(client, mebibytes)) * BATCH.nbytes / 1e6,
            lambda: mebibytes / _seconds(lambda: _stream(connection, mebibytes)) * BATCH.nbytes / 1e6,
            rounds,
        )


def fed(*, pieces: int = 300, rounds: int = 5, tls: bool = False) -> Measurement:
    """Rows of a feed, in pieces of which each is confirmed, per second."""
    some = [batch(PIECE_ROWS, seed) for seed in range(DIFFERENT)]
    size = pieces * PIECE_ROWS * ROW_BYTES
    with _serving(tls=tls) as client, _connected(_drain, size=size) as connection:
        _feed(client, some, 2 * DIFFERENT)
        return _alternate(
            lambda: pieces * PIECE_ROWS / _seconds(lambda: _feed(client, some, pieces)),
            lambda: pieces * PIECE_ROWS / _seconds(lambda: _send(connection, size)),
            rounds,
        )


def _feed(client: WireClient, some: list[pyarrow.RecordBatch], count: int) -> None:
    pieces = itertools.islice(itertools.cycle(some), count)
    with client.exchange("train", some[0].schema, pieces) as answers:
        assert sum(1 for _ in answers) == count


def _send(connection: socket.socket, size: int) -> None:
    piece = bytes(PIECE_ROWS * ROW_BYTES)
    for _ in range(size // len(piece)):
        connection.sendall(piece)
    connection.recv(1)


def _alternate(wire: Callable[[], float], bare: Callable[[], float], rounds: int) -> Measurement:
    """Measures both in turn, since other load on the machine comes and goes; medians."""
    pairs = [(wire(), bare()) for _ in range(rounds)]
    return Measurement(
        wire=statistics.median(pair[0] for pair in pairs), socket=statistics.median(pair[1] for pair in pairs)
    )


def _pour(client: WireClient, count: int) -> None:
    client.put("sink", BATCH.schema, itertools.repeat(BATCH, count))


def _stream(connection: socket.socket, count: int) -> None:
    data = memoryview(BATCH.column("x").buffers()[1])
    for _ in range(count):
        connection.sendall(data)
    connection.recv(1)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _rate(action: Callable[[], object], seconds: float) -> float:
    start = time.perf_counter()
    for count in itertools.count(1):
        action()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return count / elapsed
    raise AssertionError


@contextlib.contextmanager
def _serving(*, tls: bool) -> Iterator[WireClient]:
    with _process(_serve, tls=tls) as pipe, WireClient(Endpoint.from_json(pipe.recv()), timeout=60) as client:
        yield client


def _serve(pipe: Connection, *, tls: bool) -> None:
    with WireServer(Counter(), address="127.0.0.1", tls=tls) as server:
        pipe.send(server.endpoint.to_json())
        pipe.recv()


@contextlib.contextmanager
def _connected(target: Callable[..., None], *, size: int) -> Iterator[socket.socket]:
    with (
        _process(target, size=size) as pipe,
        socket.create_connection(("127.0.0.1", pipe.recv())) as connection,
    ):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def _echo(pipe: Connection, size: int) -> None:
    with _accepted(pipe) as connection:
        while data := connection.recv(size, socket.MSG_WAITALL):
            connection.sendall(data)


def _drain(pipe: Connection, size: int) -> None:
    buffer = bytearray(1 << 20)
    received = 0
    with _accepted(pipe) as connection:
        while count := connection.recv_into(buffer):
            received += count
            if received % size == 0:
                connection.sendall(b"x")


@contextlib.contextmanager
def _accepted(pipe: Connection) -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        pipe.send(listener.getsockname()[1])
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        yield connection


def _ping(connection: socket.socket, body: bytes) -> None:
    connection.sendall(body)
    connection.recv(len(body), socket.MSG_WAITALL)


@contextlib.contextmanager
def _process(target: Callable[..., None], **options: object) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs,), kwargs=options)
    process.start()
    try:
        yield ours
    finally:
        # a server waits for this; a socket's end is told by the connection
        ours.send(None)
        process.join()


def run() -> Table:
    """Measures the wire and a bare socket by turns."""
    measured = {
        "round trips/s, 1 thread": round_trips(),
        "round trips/s, 4 threads": round_trips(threads=4),
        "round trips/s, 1 thread, TLS": round_trips(tls=True),
        "bulk MB/s, 1 MiB batches": bulk(),
        "bulk MB/s, 1 MiB batches, TLS": bulk(tls=True),
        "fed rows/s": fed(),
        "fed rows/s, TLS": fed(tls=True),
    }
    rows = tuple(
        (name, f"{row.wire:,.0f}", f"{row.socket:,.0f}", f"{row.ratio:.2f}") for name, row in measured.items()
    )
    return Table(
        title="Wire",
        columns=("work", "wire", "bare socket", "ratio"),
        rows=rows,
        notes="Client and server are two processes on loopback; wire and socket take turns in one run. Fed rows are 784 float32 "
        "and a label, in the pieces of a feed, each of which is confirmed; rows that travel in shared memory pass no wire.",
    )
