"""A peer in a process of its own, for the tests that kill one.

`peer.py endless` and `peer.py witness` print the endpoint of a server and serve until stdin is closed;
`peer.py scarce` may open 1,024 files, and says whether it can open another one.
`peer.py pour` reads an endpoint from stdin and pours without end into its stream "sink".
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import resource
import sys
import threading
from collections.abc import Iterator, Mapping

import pyarrow

from hopyard.wire import Batches, BatchReader, Endpoint, Json, Service, WireClient, WireServer

DESCRIPTORS = 1024
BATCH = pyarrow.record_batch({"x": pyarrow.array(range(10_000), pyarrow.int64())})


class Endless(Service):
    """Says when it has begun, then never ends."""

    def __init__(self) -> None:
        self._never = threading.Event()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        say("in call")
        while not self._never.wait(0.01):
            pass
        return {}

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        for number, _ in enumerate(batches):
            if number == 0:
                say("in receive")
        return {}

    def send(self, stream: str) -> Batches:
        return pyarrow.RecordBatchReader.from_batches(BATCH.schema, endless())


class Witness(Service):
    """Counts what reaches it, and tells."""

    def __init__(self) -> None:
        self._seen = 0

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        if method == "seen":
            return {"seen": self._seen}
        self._seen += 1
        return {"method": method}

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        self._seen += 1
        return {"rows": sum(batch.num_rows for batch in batches)}

    def send(self, stream: str) -> Batches:
        self._seen += 1
        return pyarrow.RecordBatchReader.from_batches(BATCH.schema, [BATCH])


class Scarce(Service):
    """Tells what comes of opening a file."""

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as error:
            return {"error": str(error)}
        return {"error": None}


def endless() -> Iterator[pyarrow.RecordBatch]:
    return itertools.repeat(BATCH)


def say(line: str) -> None:
    print(line, flush=True)


def serve(service: Service) -> None:
    logging.getLogger("hopyard").addHandler(logging.NullHandler())
    with WireServer(service, address="127.0.0.1", close_timeout=1) as server:
        say(json.dumps(server.endpoint.to_json()))
        sys.stdin.read()


def pour() -> None:
    endpoint = Endpoint.from_json(json.loads(sys.stdin.readline()))
    with WireClient(endpoint) as client:
        client.put("sink", BATCH.schema, endless())


def main(role: str) -> None:
    match role:
        case "endless":
            serve(Endless())
        case "witness":
            serve(Witness())
        case "scarce":
            resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
            serve(Scarce())
        case "pour":
            pour()


if __name__ == "__main__":
    main(sys.argv[1])
