"""Runs and studies whose connections are encrypted: on real executors, with a node that is killed."""

from __future__ import annotations

import dataclasses
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psutil
import pytest

import hopyard
from hopyard import Cluster, NodeContext, Project
from hopyard.errors import PeerGone
from hopyard.feed.driver.group_status import feed_token
from hopyard.feed.driver.targets import FedNodes
from hopyard.spark.session.encryption import encrypts
from hopyard.testing.watching import sign_in, signed_in, wait_until
from hopyard.tracking import RunReader
from hopyard.wire import WireClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

SECONDS = 90
ROWS, BATCH = 64, 4


def learn_in_step(ctx: NodeContext) -> list[int]:
    """Returns the rows that came; nodes take batches together, for which they ask each other."""
    feed = ctx.feed(uneven="pad")
    sign_in(ctx)
    if ctx.attempt == 0:
        wait_until(lambda: ctx.project.exists("the-word"), "the test says the word", SECONDS)
    return [row for batch in feed.as_numpy(BATCH) for row in batch["id"].tolist()]


def square(x: int) -> int:
    return x * x


def listening(process: psutil.Process) -> set[tuple[str, int]]:
    return {
        (each.laddr.ip.removeprefix("::ffff:"), each.laddr.port)
        for each in process.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN
    }


def speaks_tls(address: tuple[str, int]) -> bool:
    """Tells whether a server answers a greeting of TLS with one of its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        with socket.create_connection(address, timeout=SECONDS) as connection:
            return context.wrap_socket(connection).version() is not None
    except (ssl.SSLError, ConnectionError):
        return False


def test_all_connections_of_a_fed_run_are_encrypted_also_after_a_restart(executors: SparkSession) -> None:
    before = listening(psutil.Process())
    with (
        Cluster(learn_in_step, nodes=2, feed=True, max_restarts=1, tls=True) as cluster,
        ThreadPoolExecutor(1) as pool,
    ):
        fed = pool.submit(cluster.train, executors.range(0, ROWS, 1, 4))
        first = signed_in(Project.open(), 2)
        first[1].kill()
        second = signed_in(Project.open(), 2, attempt=1)
        opened = [listening(psutil.Process()) - before, *map(listening, second)]
        assert all(opened)
        assert [address for each in opened for address in each if not speaks_tls(address)] == []
        assert cluster._thread is not None
        nodes = FedNodes(cluster._thread, secret=cluster._feed_secret, ranks=(0, 1))
        for node in nodes.team(nodes.look()).nodes:
            assert node.endpoint.token == feed_token(cluster._feed_secret, 1)
            readable = dataclasses.replace(node.endpoint, certificate=None)
            with WireClient(readable) as client, pytest.raises(PeerGone):
                client.call("progress", {})
        fed.result(SECONDS)
        values = cluster.shutdown(SECONDS).values
    assert sorted(set(values[0] + values[1])) == list(range(ROWS))
    record = RunReader(Project.open(), cluster.run_id).record()
    assert (record.details["tls"], record.attempts) == (True, 2)


def test_the_slots_of_a_study_call_the_driver_over_tls(
    executors: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPYARD_TLS", "1")
    study = hopyard.grid_search(square, {"x": [1, 2, 3]}, progress=False)
    assert study.best_value == 9
    assert RunReader(Project.open(), study.run_id).record().details["tls"] is True


def test_a_run_is_not_encrypted_where_spark_is_not_and_nobody_asks(executors: SparkSession) -> None:
    result = hopyard.launch(square, {"x": 3})
    assert RunReader(Project.open(), result.run_id).record().details["tls"] is False


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("spark.ssl.enabled", "true", True),
        ("spark.ssl.rpc.enabled", "True", True),
        ("spark.network.crypto.enabled", "true", True),
        ("spark.network.crypto.enabled", "false", False),
        ("spark.io.encryption.enabled", "true", False),
    ],
)
def test_spark_tells_whether_it_encrypts(
    executors: SparkSession, setting: str, value: str, expected: bool
) -> None:
    from pyspark import SparkConf

    assert encrypts(SparkConf(loadDefaults=False).set(setting, value)) is expected
