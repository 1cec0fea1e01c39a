"""Fixtures of every lane. Whatever is heavy is imported by the fixture that needs it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from hopyard.testing.processes import command_line, still_running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from hopyard.testing.mini_hdfs import MiniHDFS
    from hopyard.testing.s3_server import S3Server


def pytest_configure() -> None:
    """Lets processes that tests start hear Ctrl-C; a shell makes programs in the background deaf to it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def hopyard_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of all projects: a folder of the test's own."""
    monkeypatch.setenv("HOPYARD_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def mini_hdfs() -> Iterator[MiniHDFS]:
    """A real HDFS; shared, so a test works in a folder of its own."""
    from hopyard.testing.mini_hdfs import MiniHDFS

    with MiniHDFS() as hdfs:
        yield hdfs


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """An S3 server; shared, so a test works in a bucket of its own (`new_bucket`)."""
    from hopyard.testing.s3_server import S3Server

    with S3Server() as server:
        yield server


@pytest.fixture(scope="session")
def spark_arguments(pytestconfig: pytest.Config) -> dict[str, Any]:
    """What the `spark` fixture hands to `local_spark`."""
    conf = {
        # These executors are short-lived: compiling less eagerly halves what their start costs.
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        # Functions of test modules travel by their name; Hopyard is the one that the tests import.
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(
            [str(pytestconfig.rootpath), *filter(None, [os.environ.get("PYTHONPATH")])]
        ),
    }
    return {"executors": 2, "cores": 1, "memory": "512m", "name": "hopyard-tests", "conf": conf}


@pytest.fixture(scope="session")
def spark(spark_arguments: dict[str, Any]) -> Iterator[SparkSession]:
    """Spark with two executor processes of one core; shared, so a test leaves its settings as they are."""
    from hopyard.spark.session import local_spark

    with local_spark(**spark_arguments) as session:
        yield session


@pytest.hookimpl(trylast=True)  # after pytest has taken down the session's fixtures
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run that leaves processes behind."""
    children = psutil.Process(os.getpid()).children(recursive=True)
    alive = still_running(children, 1)
    if alive:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.section("processes left behind", red=True)
            for process in alive:
                reporter.line(f"{process.pid}: {command_line(process)[:300]}")
