"""The ceiling of a feed: two clients pour rows into two servers with nothing but Arrow Flight."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Connection

import pyarrow.flight
from benchmarks.feed_data import PIECE_ROWS, batch
from benchmarks.feed_rate import Arrivals, steady

PAIRS = 2
DIFFERENT = 64  # pieces that a client sends over and over


class Counter(pyarrow.flight.FlightServerBase):
    """Throws away what it gets, and counts."""

    def __init__(self) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self.arrivals = Arrivals(batch=PIECE_ROWS)

    def do_put(
        self,
        context: object,  # noqa: ARG002 (pyarrow passes them)
        descriptor: object,  # noqa: ARG002
        reader: pyarrow.flight.MetadataRecordBatchReader,
        writer: object,  # noqa: ARG002
    ) -> None:
        for chunk in reader:
            self.arrivals.saw(chunk.data.num_rows)


def measure(rows: int) -> dict[str, float]:
    """Returns rows per second of all pairs together."""
    with ExitStack() as resources:
        servers = [resources.enter_context(Process(_serve)) for _ in range(PAIRS)]
        ports = [server.pipe.recv() for server in servers]
        clients = [resources.enter_context(Process(_pour, port, rows // PAIRS)) for port in ports]
        for client in clients:
            client.pipe.recv()
        began = time.monotonic()
        for client in clients:
            client.pipe.send("go")
        for client in clients:
            client.pipe.recv()
        ended = time.monotonic()
        for server in servers:
            server.pipe.send("enough")
        arrivals = [server.pipe.recv() for server in servers]
    sent = sum(each.rows for each in arrivals)
    return {"steady": steady(arrivals), "whole": sent / (ended - began)}


class Process:
    """A process of its own and a pipe to it; leaving waits for its end."""

    def __init__(self, target: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=target, args=(theirs, *arguments), daemon=True)

    def __enter__(self) -> Process:
        self.process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.join()


def _serve(pipe: Connection) -> None:
    server = Counter()
    serving = threading.Thread(target=server.serve)
    serving.start()
    pipe.send(server.port)
    pipe.recv()
    server.shutdown()
    serving.join()
    pipe.send(server.arrivals)


def _pour(pipe: Connection, port: int, rows: int) -> None:
    pieces = [batch(PIECE_ROWS, seed) for seed in range(DIFFERENT)]
    descriptor = pyarrow.flight.FlightDescriptor.for_path("rows")
    with pyarrow.flight.FlightClient(f"grpc://127.0.0.1:{port}") as client:
        writer, _ = client.do_put(descriptor, pieces[0].schema)
        pipe.send("ready")
        pipe.recv()
        with writer:
            for number in range(rows // PIECE_ROWS):
                writer.write_batch(pieces[number % DIFFERENT])
    pipe.send("done")
