from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from hopyard.cluster.departure import HEARD
from hopyard.cluster.detached_node import DetachedLink, ProcessWatch
from hopyard.cluster.lease import ENDED, HEARTBEAT, REGISTER
from hopyard.testing.watching import wait_until
from hopyard.wire import Json

pytestmark = pytest.mark.unit


class Answers:
    """A link that always has an answer."""

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        return {"method": method}


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child
        child.kill()


@pytest.mark.parametrize("method", [REGISTER, ENDED])
def test_the_task_is_released_when_the_driver_has_first_heard(pipe: tuple[int, int], method: str) -> None:
    read, write = pipe
    link = DetachedLink(Answers(), write, ProcessWatch(os.getpid()))
    link.call(HEARTBEAT, {})
    for _ in range(2):
        assert link.call(method, {}) == {"method": method}
    assert os.read(read, 100) == HEARD
    assert os.read(read, 100) == b""  # and the pipe is closed


def test_a_node_whose_task_did_not_wait_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    read, write = os.pipe()
    os.close(read)
    link = DetachedLink(Answers(), write, ProcessWatch(os.getpid()))
    assert link.call(REGISTER, {}) == {"method": REGISTER}
    assert "the Spark task did not wait for its node" in caplog.text


def test_that_the_executor_is_gone_is_in_the_log_once(
    pipe: tuple[int, int], process: subprocess.Popen[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    link = DetachedLink(Answers(), pipe[1], ProcessWatch(process.pid))
    link.call(REGISTER, {})
    assert caplog.text == ""
    process.kill()
    process.wait()
    for _ in range(2):
        link.call(HEARTBEAT, {})
    assert caplog.text.count("the executor is gone; the driver answers") == 1


def test_a_process_is_seen_to_end_although_nobody_has_collected_it(process: subprocess.Popen[bytes]) -> None:
    watch = ProcessWatch(process.pid)
    assert not watch.is_gone()
    process.kill()
    wait_until(watch.is_gone, "the process is gone", 5)


def test_a_process_that_was_gone_before_is_gone(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert ProcessWatch(process.pid).is_gone()


def test_the_process_table_tells_where_there_are_no_process_descriptors(
    process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    watch = ProcessWatch(process.pid)
    assert not watch.is_gone()
    process.kill()
    process.wait()
    assert watch.is_gone()
