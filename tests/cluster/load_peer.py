"""The two sides of the load test, each in processes of its own.

`load_peer.py server <core> <nodes>` serves a gang on one core, prints its endpoint, and at the end of stdin
prints what it has seen. `load_peer.py nodes <core> <first> <count> <seconds>` reads the endpoint from stdin and
is that many nodes, each with a connection of its own; it prints how these fared.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import select
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping

from hopyard.control.coordinator import Coordinator
from hopyard.control.gang import Gang, Timeouts
from hopyard.control.pool_wire import PoolWire
from hopyard.errors import HopyardError
from hopyard.protocol.messages import Arrive, Beat, Reply
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.plan import Plan
from hopyard.wire import Endpoint, Json, WireClient, WireServer
from hopyard.worker.driver_link import WireLink

TICK_SECONDS = 0.5
CALL_SECONDS = 5.0
LEASE_SECONDS = 30.0
THREADS = 16
SIGN = Heartbeat(step=1200, metrics={"loss": 0.125, "accuracy": 0.75}, idle_seconds=0.5)


class CountingWire(PoolWire):
    """A coordinator on the wire that counts what it is asked."""

    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(coordinator)
        self.calls: Counter[str] = Counter()

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        answer = super().call(method, message)
        self.calls[method] += 1
        return answer


def serve(nodes: int) -> None:
    """Plays the driver."""
    gang = Gang(Plan.of(nodes), Timeouts(lease=LEASE_SECONDS), now=time.monotonic())
    coordinator = Coordinator(gang)
    service = CountingWire(coordinator)
    with WireServer(service, address="127.0.0.1") as server:
        say(server.endpoint.to_json())
        while not select.select([sys.stdin], [], [], TICK_SECONDS)[0]:
            coordinator.tick()
        coordinator.tick()
        phases = Counter(status.phase.value for status in coordinator.status())
        seen: dict[str, Json] = {
            "calls": dict(service.calls),
            "phases": dict(phases),
            "lost": sorted(gang.lost),
            "cpu_seconds": time.process_time(),
        }
    say(seen)


class SimulatedNode:
    """A node without a process, and the messages of its lease: arrives until it has the map, then beats."""

    def __init__(self, endpoint: Endpoint, rank: int) -> None:
        self.rank = rank
        self.places = 0
        self.beats = 0
        self.until = math.inf
        self.slowest = 0.0
        self.failures: list[str] = []
        self._link = WireLink(WireClient(endpoint, timeout=CALL_SECONDS))

    def call(self, seconds: float) -> float | None:
        """Makes the next call; returns when to make another one, None for never."""
        began = time.monotonic()
        try:
            answer = self._beat() if self.places else self._arrive()
        except HopyardError as error:
            self.failures.append(str(error))
            return began + 1.0
        ended = time.monotonic()
        self.slowest = max(self.slowest, ended - began)
        if answer.stop is not None:
            self.failures.append(f"told to stop: {answer.stop}")
            return None
        if answer.members is not None:
            self.places = len([place for places in answer.members.by_role.values() for place in places])
            self.until = ended + seconds
            return ended
        again = ended + answer.again
        return again if again < self.until else None

    def _arrive(self) -> Reply:
        address = f"10.{self.rank // 250}.{self.rank % 250}.1:8000"
        return self._link.ask(
            Arrive(number=self.rank, incarnation=self._life, address=address, host="a-host")
        )

    def _beat(self) -> Reply:
        answer = self._link.ask(Beat(number=self.rank, incarnation=self._life, heartbeat=SIGN))
        self.beats += 1
        return answer

    @property
    def _life(self) -> str:
        return f"life-{self.rank}"


class Crowd:
    """Nodes that take turns on some threads: one thread each would keep this core busy with nothing else."""

    def __init__(self, nodes: list[SimulatedNode], seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._due = [(time.monotonic(), node.rank, node) for node in nodes]
        self._asleep = threading.Event()  # nobody sets it

    def live(self) -> None:
        """Makes all calls when they are due, until there are no more."""
        threads = [threading.Thread(target=self._work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._due:
                    return
                due, rank, node = heapq.heappop(self._due)
            self._asleep.wait(max(0.0, due - time.monotonic()))
            again = node.call(self._seconds)
            if again is not None:
                with self._lock:
                    heapq.heappush(self._due, (again, rank, node))


def live(first: int, count: int, seconds: float) -> None:
    """Plays nodes."""
    endpoint = Endpoint.from_json(json.loads(sys.stdin.readline()))
    nodes = [SimulatedNode(endpoint, rank) for rank in range(first, first + count)]
    began = time.monotonic()
    Crowd(nodes, seconds).live()
    say(
        {
            "places": sorted({node.places for node in nodes}),
            "beats": sum(node.beats for node in nodes),
            "failures": [failure for node in nodes for failure in node.failures][:10],
            "slowest": max(node.slowest for node in nodes),
            "map_seconds": max(node.until for node in nodes) - seconds - began,
            "cpu_seconds": time.process_time(),
        }
    )


def say(value: Mapping[str, Json]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    role, core, *numbers = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    if role == "server":
        serve(int(numbers[0]))
    else:
        live(int(numbers[0]), int(numbers[1]), float(numbers[2]))
    sys.stdout.flush()
    os._exit(0)  # a thousand clients take their time to go, and nobody waits for them
