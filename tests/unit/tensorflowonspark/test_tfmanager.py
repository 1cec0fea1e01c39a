"""Queues and values that processes share."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.managers import RemoteError

import psutil
import pytest

from hopyard.testing.processes import still_running
from tensorflowonspark import TFManager

pytestmark = pytest.mark.unit

OWNER = """
import sys
from tensorflowonspark import TFManager
manager = TFManager.start("secret", ["input"], "local")
print(manager._process.pid, flush=True)
sys.stdin.readline()
"""
GUEST = """
import sys
from tensorflowonspark import TFManager
manager = TFManager.connect(sys.argv[1], "secret")
manager.get_queue("input").put({"row": 1})
manager.set("state", "terminating")
"""


@pytest.fixture
def manager() -> Iterator[TFManager.TFManager]:
    manager = TFManager.start("secret", ["input", "output"], "local")
    yield manager
    manager.shutdown()


def test_another_process_that_connects_shares_queues_and_values(manager):
    manager.set("state", "running")
    assert str(manager.get("state")) == "'running'"
    subprocess.run([sys.executable, "-c", GUEST, manager.address], check=True, timeout=30)
    assert manager.get_queue("input").get(timeout=10) == {"row": 1}
    assert manager.get("state")._getvalue() == "terminating"


def test_a_queue_is_done_when_all_that_was_taken_from_it_is_done(manager):
    rows = manager.get_queue("input")
    rows.put(1)
    assert rows.get() == 1
    assert (rows.empty(), rows.qsize()) == (True, 0)
    rows.task_done()
    rows.join()
    with pytest.raises(queue.Empty):
        rows.get(block=False)


def test_queues_have_nothing_to_do_with_each_other(manager):
    manager.get_queue("input").put(1)
    assert manager.get_queue("output").empty()


def test_a_remote_manager_is_reached_by_host_and_port():
    manager = TFManager.start(b"secret", ["control"], "remote")
    try:
        port = manager.address[1]
        TFManager.connect(("127.0.0.1", port), b"secret").get_queue("control").put("stop")
        assert manager.get_queue("control").get(timeout=10) == "stop"
    finally:
        manager.shutdown()


def test_who_does_not_know_the_secret_cannot_connect(manager):
    with pytest.raises(multiprocessing.AuthenticationError):
        TFManager.connect(manager.address, "guess")


def test_a_queue_that_is_not_there_is_named_with_those_that_are(manager):
    with pytest.raises(RemoteError, match="'inptu' is none of the queues: input, output"):
        manager.get_queue("inptu")


def test_a_value_that_is_not_there_is_an_error(manager):
    with pytest.raises(RemoteError, match="stat"):
        manager.get("stat")


def test_two_managers_of_one_process_share_nothing(manager):
    second = TFManager.start("other", ["input"])
    try:
        second.get_queue("input").put(1)
        assert manager.get_queue("input").empty()
    finally:
        second.shutdown()


def test_what_a_manager_keeps_can_be_made_in_a_process_that_inherits_nothing():
    kept = pickle.loads(
        pickle.dumps([TFManager.SharedBuffer(["input"]).get_queue, TFManager.SharedBuffer(["input"]).get])
    )
    kept[0]("input").put(1)
    assert kept[0]("input").get() == 1


@pytest.mark.parametrize("how", ["the end of its input", "a signal that it cannot catch"])
def test_a_manager_ends_with_its_owner(how):
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        server = psutil.Process(int(owner.stdout.readline()))
        if how == "a signal that it cannot catch":
            os.kill(owner.pid, signal.SIGKILL)
    assert still_running([server], 10) == []
