"""Supervisors that leave the process which starts them, which is the test here."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import cloudpickle
import psutil
import pytest

from hopyard import NodeContext, Project
from hopyard.control.coordinator import Coordinator
from hopyard.control.driver_wire import CoordinatorService
from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import SupervisorNotStarted
from hopyard.protocol.node_status import Heartbeat
from hopyard.protocol.plan import Plan
from hopyard.testing.processes import still_running, with_variable
from hopyard.testing.watching import wait_until
from hopyard.tracking import NodeState, RunId
from hopyard.wire import WireServer
from hopyard.worker.detach.report_lost import tell
from hopyard.worker.detach.start import GATHERED, HEARD, Orders, depart
from hopyard.worker.lease import longest_silence
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit

KEY = b"the key of the run"


class Driver:
    """A driver that waits for one node."""

    def __init__(self) -> None:
        self.gang = Gang(Plan.of(1), Timeouts(), now=time.monotonic())
        self.coordinator = Coordinator(self.gang)
        self.server = WireServer(CoordinatorService(self.coordinator, outcome_key=KEY), address="127.0.0.1")

    def orders(self, function: object = print, lease_seconds: float = 30.0) -> Orders:
        plan = Plan.of(1)
        task = NodeTask(
            node=plan.nodes[0],
            plan=plan,
            run_id=RunId("app", "launcher", 1),
            project=Project.open(),
            payload=cloudpickle.dumps(function),
            coordinator=self.server.endpoint,
            outcome_key=KEY,
            lease_seconds=lease_seconds,
        )
        return Orders(task=task, address="127.0.0.1", gpus=("3",), incarnation="a", executor=os.getpid())


@pytest.fixture
def driver() -> Iterator[Driver]:
    made = Driver()
    yield made
    made.server.close()


def tell_of_itself() -> tuple[bool, str, str, str]:
    """Returns what a node sees of how it was started."""
    ancestors = {process.pid for process in psutil.Process().parents()}
    test = int(os.environ["THE_TEST"])
    only_here = __import__("only_here").ANSWER
    rank = str(NodeContext.current().rank)
    return test in ancestors, only_here, rank, os.environ["CUDA_VISIBLE_DEVICES"]


def wait_for_ever() -> None:
    threading.Event().wait()


def test_a_node_leaves_with_all_that_its_starter_has_and_brings_its_value(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("ANSWER = 'found'")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("THE_TEST", str(os.getpid()))
    depart(driver.orders(tell_of_itself), 60)
    assert driver.gang.present == 1
    wait_until(lambda: driver.coordinator.is_settled, "the node is done", 30)
    outcome = driver.gang.outcomes[0]
    assert outcome.record.message is None
    assert outcome.result() == (False, "found", "0", "3")
    assert psutil.Process().children() == []


def test_a_supervisor_that_ends_without_a_word_is_told_with_its_last_lines(driver: Driver) -> None:
    with pytest.raises(SupervisorNotStarted) as caught:
        depart(driver.orders(), 60, command=("sh", "-c", "echo first; echo why >&2; exit 3"))
    assert (caught.value.cause, caught.value.last_lines) == ("it ended", ("first", "why"))


def test_a_supervisor_that_hangs_is_killed_at_its_deadline(driver: Driver, tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/pid; sleep 600"
    with pytest.raises(SupervisorNotStarted, match=r"within 0\.3 s \(half of start_timeout\)"):
        depart(driver.orders(), 0.3, command=("sh", "-c", script))
    left = int((tmp_path / "pid").read_text())
    wait_until(
        lambda: not psutil.pid_exists(left) or psutil.Process(left).status() == "zombie", "it is gone", 5
    )


def test_a_supervisor_that_is_stopped_for_good_is_killed_and_its_driver_told(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_TEST", str(os.getpid()))
    depart(driver.orders(wait_for_ever, lease_seconds=1), 60)
    started = with_variable("THE_TEST", str(os.getpid()))
    (supervisor,) = next(process for process in started if process.parent() not in started).children()
    supervisor.suspend()
    wait_until(lambda: driver.coordinator.is_settled, "the driver knows", longest_silence(1) + 10)
    record = driver.gang.records[0]
    words = r"its supervisor had been silent for \d+ s \(lease\), so the process that waits for it killed it"
    assert re.fullmatch(words, record.message or "")
    assert record.state is NodeState.FAILED
    assert not still_running(started, 5)


def test_the_task_stays_until_all_nodes_have_arrived(driver: Driver, tmp_path: Path) -> None:
    said, go = tmp_path / "said", tmp_path / "go"
    script = f"""(
        printf {HEARD.decode()} >&$0; touch {said}
        until [ -e {go} ]; do sleep 0.02; done
        printf {GATHERED.decode()} >&$0; exec sleep 5
    ) &"""
    task = threading.Thread(target=depart, args=(driver.orders(), 60, ("bash", "-c", script)))
    task.start()
    wait_until(said.exists, "the supervisor has been heard", 10)
    task.join(0.1)
    assert task.is_alive()
    go.touch()
    wait_until(lambda: not task.is_alive(), "the task ends", 4)


def test_the_orders_are_in_no_command_line_and_in_no_file_with_a_name(driver: Driver, tmp_path: Path) -> None:
    script = f"readlink /proc/self/fd/0 > {tmp_path}/seen; head -c 4 > {tmp_path}/head; printf {HEARD.decode()} >&$0"
    depart(driver.orders(), 60, command=("bash", "-c", script))
    assert (tmp_path / "seen").read_text().rstrip().endswith("(deleted)")
    assert (tmp_path / "head").read_bytes() == cloudpickle.dumps(driver.orders())[:4]


# --- who tells in the stead of a supervisor --------------------------------------------------------


def test_the_driver_learns_of_a_supervisor_that_never_came(driver: Driver) -> None:
    tell(driver.orders(), "its supervisor did not start", ("first", "why"))
    record = driver.gang.records[0]
    assert (record.state, record.message) == (NodeState.FAILED, "its supervisor did not start: why")
    assert record.tail == ("first", "why")
    assert driver.coordinator.is_settled
    assert driver.gang.culprit == 0


def test_what_a_supervisor_has_told_itself_stands(driver: Driver) -> None:
    orders = driver.orders()
    done = orders.task.finished(time.time())
    driver.gang.end(0, done, Heartbeat(), incarnation="a", now=0.0)
    tell(orders, "it was killed", ())
    assert driver.gang.records[0] == done
