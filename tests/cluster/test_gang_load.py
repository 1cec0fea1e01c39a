"""A thousand nodes that call one driver: all find each other, and nobody is taken for lost."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hopyard.protocol.messages import Arrive
from hopyard.wire import Endpoint, WireClient
from hopyard.worker.driver_link import WireLink

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

PEER = Path(__file__).with_name("load_peer.py")
NODES = 1000
PROCESSES = 2
SECONDS = 15.0
PATIENCE_SECONDS = 120.0
BEAT_SECONDS = 1.0  # of a thousand nodes

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts peers, and ends those that are left."""
    peers: list[subprocess.Popen[str]] = []

    def start_peer(role: str, core: int, *numbers: float) -> subprocess.Popen[str]:
        command = [sys.executable, str(PEER), role, str(core), *map(str, numbers)]
        peers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return peers[-1]

    yield start_peer
    for peer in peers:
        with peer:
            peer.kill()


def test_a_thousand_nodes_find_each_other_and_keep_their_leases_with_a_driver_of_one_core(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    cores = sorted(os.sched_getaffinity(0))
    server = start("server", cores[0], NODES)
    endpoint = heard(server)
    share = NODES // PROCESSES
    crowds = [start("nodes", cores[-1], first, share, SECONDS) for first in range(0, NODES, share)]
    for crowd in crowds:
        tell(crowd, endpoint)
    nodes = [heard(crowd) for crowd in crowds]
    tell(server, {})
    driver = heard(server)
    with capsys.disabled():
        sys.stdout.write(f"\ndriver: {driver}\n" + "".join(f"nodes: {crowd}\n" for crowd in nodes))

    assert [crowd["places"] for crowd in nodes] == [[NODES]] * PROCESSES
    assert [crowd["failures"] for crowd in nodes] == [[]] * PROCESSES
    assert (driver["lost"], driver["phases"]) == ([], {"running": NODES})
    due = NODES * SECONDS / BEAT_SECONDS
    assert driver["calls"]["beat"] >= 0.95 * due


def test_a_driver_that_is_held_up_for_seconds_can_still_be_connected_to(start: Start) -> None:
    server = start("server", min(os.sched_getaffinity(0)), 1)
    endpoint = Endpoint.from_json(heard(server))
    server.send_signal(signal.SIGSTOP)
    resume = threading.Timer(2.5, server.send_signal, args=[signal.SIGCONT])
    resume.start()
    with WireClient(endpoint, timeout=10.0) as client:
        answer = WireLink(client).ask(Arrive(number=0, incarnation="a", address="b:1", host="c"))
    resume.join()
    assert answer.members is not None
    assert answer.members.by_role == {"chief": ("b:1",)}


def heard(peer: subprocess.Popen[str]) -> dict[str, Any]:
    assert peer.stdout is not None
    assert select.select([peer.stdout], [], [], PATIENCE_SECONDS)[0], "a peer says nothing"
    line = peer.stdout.readline()
    assert line, "a peer has ended"
    answer: dict[str, Any] = json.loads(line)
    return answer


def tell(peer: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert peer.stdin is not None
    peer.stdin.write(json.dumps(message) + "\n")
    peer.stdin.flush()
