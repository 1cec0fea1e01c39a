from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from hopyard import Cluster
from hopyard.testing.watching import say_the_word, wait_for_the_word, wait_until
from tensorflowonspark.board import LogDirTensorBoard

pytest.importorskip("tensorboard")
pytestmark = pytest.mark.cluster

SECONDS = 60


def listening() -> set[str]:
    """Returns the addresses at which a TensorBoard that this process has started listens."""
    servers = [each for each in psutil.Process().children(recursive=True) if is_tensorboard(each)]
    ends = [end for server in servers for end in server.net_connections("inet") if end.status == "LISTEN"]
    return {end.laddr.ip for end in ends}


def is_tensorboard(process: psutil.Process) -> bool:
    try:
        return "tensorboard.main" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("options", "address"), [({}, "127.0.0.1"), ({"tensorboard_host": "0.0.0.0"}, "0.0.0.0")]
)
@pytest.mark.parametrize("where", [True, "chief"])
def test_a_tensorboard_listens_where_it_was_told_and_on_loopback_otherwise(
    where: bool | str, options: dict[str, Any], address: str
) -> None:
    cluster = Cluster(wait_for_the_word, backend="processes", tensorboard=where, **options).start()
    wait_until(lambda: cluster.tensorboard_url is not None, "TensorBoard answers", SECONDS)
    assert address in listening()
    assert listening() <= {address, "127.0.0.1"}
    say_the_word(cluster._project)
    cluster.wait(SECONDS)


def test_that_of_tensorflowonspark_listens_at_the_address_of_its_host_alone(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    answers = threading.Event()

    def announce(name: str, url: str) -> None:
        told.append((name, url))
        answers.set()

    with LogDirTensorBoard(log_dir=str(tmp_path))(tmp_path, announce):
        assert answers.wait(SECONDS), "TensorBoard did not answer"
        [(_, url)] = told
        assert "0.0.0.0" not in listening()
        assert listening() & {url.removeprefix("http://").rpartition(":")[0]}
