from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hopyard.wire import Endpoint

PEER = Path(__file__).with_name("peer.py")


class Peer:
    """A `peer.py` process; stderr goes to a file, to see what gRPC says."""

    def __init__(self, role: str, stderr: Path) -> None:
        self.stderr = stderr
        with stderr.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, str(PEER), role],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def endpoint(self) -> Endpoint:
        return Endpoint.from_json(json.loads(self.line()))

    def tell(self, endpoint: Endpoint) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(endpoint.to_json()) + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def dismiss(self) -> int:
        """Lets the process end by itself and returns its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=10)


@pytest.fixture(scope="module")
def start_peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Peer]]:
    """Starts peers, and ends those that a test has left."""
    peers: list[Peer] = []

    def start(role: str) -> Peer:
        peers.append(Peer(role, tmp_path_factory.mktemp("peer") / "stderr"))
        return peers[-1]

    yield start
    for peer in peers:
        with peer.process:
            peer.kill()
