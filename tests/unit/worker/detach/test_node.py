from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from hopyard.testing.watching import wait_until
from hopyard.wire import Json
from hopyard.worker.detach.node import DetachedLink, ProcessWatch
from hopyard.worker.detach.start import GATHERED, HEARD
from hopyard.worker.lease import ENDED, HEARTBEAT, REGISTER

pytestmark = pytest.mark.unit


WAIT: Mapping[str, Json] = {"members": None, "stop": None}
ALL_ARE_HERE: Mapping[str, Json] = {"members": {"chief": ["a:1"]}, "stop": None}
STOP: Mapping[str, Json] = {"members": None, "stop": "enough"}


class InferenceAnswers:
    """A link that has an answer ready for each call, and the last one again and again."""

    def __init__(self, *answers: Mapping[str, Json]) -> None:
        self._answers = list(answers)

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


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


@pytest.mark.parametrize("last", [ALL_ARE_HERE, STOP])
def test_the_task_is_told_of_the_first_answer_and_when_all_have_arrived(
    pipe: tuple[int, int], last: Mapping[str, Json]
) -> None:
    read, write = pipe
    link = DetachedLink(InferenceAnswers(WAIT, WAIT, last), write, ProcessWatch(os.getpid()))
    for _ in range(2):
        assert link.call(REGISTER, {}) == WAIT
    assert os.read(read, 100) == HEARD
    for _ in range(2):
        assert link.call(REGISTER, {}) == last
    assert os.read(read, 100) == GATHERED
    assert os.read(read, 100) == b""  # and the pipe is closed


def test_the_task_of_a_node_that_ends_at_once_need_not_wait(pipe: tuple[int, int]) -> None:
    read, write = pipe
    DetachedLink(InferenceAnswers({}), write, ProcessWatch(os.getpid())).call(ENDED, {})
    assert os.read(read, 100) == HEARD + GATHERED


def test_a_node_whose_task_did_not_wait_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    read, write = os.pipe()
    os.close(read)
    link = DetachedLink(InferenceAnswers(ALL_ARE_HERE), write, ProcessWatch(os.getpid()))
    assert link.call(REGISTER, {}) == ALL_ARE_HERE
    assert "the Spark task did not wait for its node" in caplog.text


def test_that_the_executor_is_gone_is_in_the_log_once(
    pipe: tuple[int, int], process: subprocess.Popen[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    link = DetachedLink(InferenceAnswers(ALL_ARE_HERE), pipe[1], ProcessWatch(process.pid))
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


def test_several_threads_may_ask_at_once() -> None:
    watch = ProcessWatch(os.getpid())
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(lambda: {watch.is_gone() for _ in range(20_000)}) for _ in range(4)]
    assert [each.result() for each in asked] == [{False}] * 4
