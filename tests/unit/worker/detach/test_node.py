from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.messages import Answer, Arrive, Beat, Ended, Message, Noted, Reply
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.outcome import Outcome
from hopyard.testing.watching import wait_until
from hopyard.tracking import NodeOutcome, NodeState
from hopyard.worker.detach.node import DetachedLink, ProcessWatch
from hopyard.worker.detach.start import GATHERED, HEARD

pytestmark = pytest.mark.unit


WAIT = Reply(again=0.1)
ALL_ARE_HERE = Reply(again=0.1, members=ClusterMap(by_role={"chief": ("a:1",)}))
STOP = Reply(again=0.1, stop="enough")
RECORD = NodeOutcome(rank=0, role="chief", host="h", state=NodeState.FINISHED, started=0.0, ended=1.0)
ARRIVAL = Arrive(number=0, incarnation="a", address="a:1", host="h")
BEAT = Beat(number=0, incarnation="a", heartbeat=Heartbeat())
END = Ended(number=0, incarnation="a", record=RECORD, heartbeat=Heartbeat())


class Prepared:
    """A link that has an answer ready for each message, and the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.taken: list[tuple[int, str, Outcome]] = []

    def ask(self, message: Message[Any]) -> Any:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:
        self.taken.append((number, incarnation, outcome))


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
    pipe: tuple[int, int], last: Reply
) -> None:
    read, write = pipe
    link = DetachedLink(Prepared(WAIT, WAIT, last), write, ProcessWatch(os.getpid()))
    for _ in range(2):
        assert link.ask(ARRIVAL) == WAIT
    assert os.read(read, 100) == HEARD
    for _ in range(2):
        assert link.ask(ARRIVAL) == last
    assert os.read(read, 100) == GATHERED
    assert os.read(read, 100) == b""  # and the pipe is closed


def test_the_task_of_a_node_that_ends_at_once_need_not_wait(pipe: tuple[int, int]) -> None:
    read, write = pipe
    DetachedLink(Prepared(Noted()), write, ProcessWatch(os.getpid())).ask(END)
    assert os.read(read, 100) == HEARD + GATHERED


def test_the_task_is_told_nothing_by_a_heartbeat(pipe: tuple[int, int]) -> None:
    read, write = pipe
    link = DetachedLink(Prepared(STOP), write, ProcessWatch(os.getpid()))
    link.ask(BEAT)
    os.set_blocking(read, False)
    with pytest.raises(BlockingIOError):
        os.read(read, 100)
    os.close(write)


def test_what_came_of_a_node_goes_on_to_the_driver() -> None:
    driver = Prepared(Noted())
    outcome = Outcome(record=RECORD, value=b"value")
    read, write = os.pipe()
    DetachedLink(driver, write, ProcessWatch(os.getpid())).deliver(0, "a", outcome)
    assert driver.taken == [(0, "a", outcome)]
    os.close(read)
    os.close(write)


def test_a_node_whose_task_did_not_wait_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    read, write = os.pipe()
    os.close(read)
    link = DetachedLink(Prepared(ALL_ARE_HERE), write, ProcessWatch(os.getpid()))
    assert link.ask(ARRIVAL) == ALL_ARE_HERE
    assert "the Spark task did not wait for its node" in caplog.text


def test_that_the_executor_is_gone_is_in_the_log_once(
    pipe: tuple[int, int], process: subprocess.Popen[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    link = DetachedLink(Prepared(ALL_ARE_HERE), pipe[1], ProcessWatch(process.pid))
    link.ask(ARRIVAL)
    assert caplog.text == ""
    process.kill()
    process.wait()
    for _ in range(2):
        link.ask(BEAT)
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
