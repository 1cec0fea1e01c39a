from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

import hopyard
from hopyard import Cluster, NodeContext, Project, errors
from hopyard.backends.base import Group, GroupOptions
from hopyard.backends.processes import ProcessesBackend
from hopyard.control.gang import Timeouts
from hopyard.errors import (
    AlreadyStarted,
    MissingDependency,
    NodeFailed,
    NotEnoughSlots,
    NotFed,
    NotStarted,
    RunStopped,
    StopTimeout,
)
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.protocol.plan import Plan
from hopyard.run.options import TrainSpec
from hopyard.testing.node_functions import serve_for_ever, square, wait_for_ever
from hopyard.testing.processes import still_running
from hopyard.testing.watching import sign_in, signed_in, wait_until
from hopyard.tracking import NodeState, RunReader, RunRecord, RunState, list_runs
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit


def sign_in_and_wait(ctx: NodeContext) -> None:
    sign_in(ctx)
    wait_for_ever(ctx)


def wait_for_a_word(ctx: NodeContext) -> int:
    """Returns its rank when somebody has put a word into the project."""
    sign_in(ctx)
    wait_until(lambda: ctx.project.exists("word"), "a word is there", 30)
    return ctx.rank


def fail() -> None:
    raise ValueError("no luck")


def need_a_port_that_is_taken() -> None:
    """Fails as any program does that wants a port of its own choice while something else has it."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(one.getsockname())


def listen_at_its_own_port(ctx: NodeContext) -> int:
    """Lets go of its port; on the first attempt another process takes it before the node can."""
    ctx.release_port()
    port = int(ctx.cluster["chief"][0].partition(":")[2])
    if ctx.attempt == 0:
        ctx.project.put("port", str(port).encode())
        wait_until(lambda: ctx.project.exists("stolen"), "the port is stolen", 30)
    with socket.create_server(("127.0.0.1", port)):
        return ctx.attempt


STEAL = """
import pathlib, socket, sys, time
folder = pathlib.Path(sys.argv[1])
end = time.monotonic() + 60
while not (folder / "port").exists() and time.monotonic() < end:
    time.sleep(0.01)
with socket.create_server(("127.0.0.1", int((folder / "port").read_text()))):
    (folder / "stolen").touch()
    sys.stdin.read()
"""


@contextmanager
def thief(folder: str) -> Iterator[None]:
    """A process that takes the port whose number it finds in a folder, and keeps it while the context is open."""
    command = [sys.executable, "-c", STEAL, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            yield
        finally:
            process.kill()


def record_of(cluster: Cluster) -> RunRecord:
    return RunReader(Project.open(), cluster.run_id).record()


# --- before and at the start -----------------------------------------------------------------------


ASKED: dict[str, Callable[[Cluster], object]] = {
    "run_id": lambda cluster: cluster.run_id,
    "logdir": lambda cluster: cluster.logdir,
    "tensorboard_url": lambda cluster: cluster.tensorboard_url,
    "nodes": lambda cluster: cluster.nodes(),
    "ready": lambda cluster: cluster.ready(),
    "wait": lambda cluster: cluster.wait(),
    "shutdown": lambda cluster: cluster.shutdown(),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_a_cluster_that_was_not_started_says_so_whatever_it_is_asked(
    ask: Callable[[Cluster], object],
) -> None:
    with pytest.raises(
        NotStarted, match=r"the cluster of 'square' has not been started; use it in a with statement"
    ):
        ask(Cluster(square, (2,), backend="inline"))


@pytest.mark.parametrize("ask", ["nodes()", "train([])"])
def test_python_without_assertions_says_so_too(ask: str) -> None:
    program = f"import hopyard; hopyard.Cluster(lambda ctx: 1, backend='processes', feed=True).{ask}"
    ended = subprocess.run(
        [sys.executable, "-O", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert "hopyard.errors.NotStarted: " in ended.stderr


def test_a_cluster_that_was_not_started_can_be_stopped() -> None:
    Cluster(square, (2,), backend="inline").stop()


def test_a_cluster_is_started_once() -> None:
    cluster = Cluster(square, (2,), backend="inline").start()
    with pytest.raises(AlreadyStarted, match="make a new Cluster for another run"):
        cluster.start()
    with cluster as same:
        assert same is cluster
    assert cluster.wait().value == 4


class FullBackend:
    """A backend that has no room."""

    name = "full"
    application = None
    encrypts = False

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> Group:
        raise NotEnoughSlots(len(tasks), "slots", 0, "full", "wait")


def test_a_cluster_that_could_not_start_tells_why_to_all_who_ask_later() -> None:
    cluster = Cluster(square, (2,), backend=FullBackend())
    for attempt in (cluster.start, cluster.wait, cluster.ready):
        with pytest.raises(NotEnoughSlots):
            attempt()
    cluster.stop()
    assert cluster.nodes() == ()
    assert record_of(cluster).state is RunState.FAILED


class EncryptedBackend(ProcessesBackend):
    """A backend that encrypts its own connections."""

    encrypts = True


@pytest.mark.parametrize(("backend", "given", "expected"), [
    (EncryptedBackend(), None, True),
    (EncryptedBackend(), False, False),
    (ProcessesBackend(), None, False),
    (ProcessesBackend(), True, True),
])  # fmt: skip
def test_a_run_is_encrypted_if_what_it_runs_on_is_and_the_record_has_it(
    backend: ProcessesBackend, given: bool | None, expected: bool
) -> None:
    with Cluster(square, (2,), backend=backend, tls=given) as cluster:
        cluster.wait()
    assert record_of(cluster).details["tls"] is expected


def test_what_tls_needs_is_looked_for_before_there_is_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingDependency, match="hopyard\\[tls\\]"):
        hopyard.launch(square, (2,), backend="processes", tls=True)
    with pytest.raises(MissingDependency, match="hopyard\\[tls\\]"):
        hopyard.grid_search(square, {"x": [1]}, backend="processes", tls=True)
    assert not list_runs(Project.open()).runs


def test_a_specification_takes_the_place_of_options() -> None:
    spec = TrainSpec(plan=Plan.of(2), timeouts=Timeouts(), trainer_devices=DeviceRequest())
    assert Cluster(square, (3,), spec=spec, backend="inline").start().wait().values == (9, 9)


# --- while it runs ---------------------------------------------------------------------------------


def test_a_cluster_tells_how_its_nodes_are_doing_and_waits_when_it_is_left() -> None:
    with Cluster(wait_for_a_word, nodes=2, backend="processes") as cluster:
        ready = cluster.ready()
        assert [(status.role, status.phase) for status in ready] == [
            ("chief", Phase.RUNNING),
            ("worker", Phase.RUNNING),
        ]
        assert all(status.address.startswith("127.0.0.1:") for status in ready)
        assert cluster.tensorboard_url is None
        assert record_of(cluster).state is RunState.RUNNING
        Project.open().put("word", b"")
    assert cluster.wait().values == (0, 1)
    assert cluster.shutdown().values == (0, 1)
    assert [status.phase for status in cluster.nodes()] == [Phase.FINISHED, Phase.FINISHED]


def test_an_exception_in_the_driver_ends_the_nodes_and_is_on_record() -> None:
    cluster = Cluster(sign_in_and_wait, backend="processes")
    nodes: list[psutil.Process] = []
    with pytest.raises(ZeroDivisionError):
        fail_beside(cluster, nodes)
    assert not still_running(nodes, 5)
    record = record_of(cluster)
    assert record.state is RunState.FAILED
    assert record.error == "ZeroDivisionError: division by zero"
    with pytest.raises(ZeroDivisionError):
        cluster.wait()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_a_driver_that_is_ended_leaves_a_run_that_was_killed(error: BaseException) -> None:
    with pytest.raises(type(error)), Cluster(sign_in_and_wait, backend="processes") as cluster:
        raise error
    assert record_of(cluster).state is RunState.KILLED


def fail_beside(cluster: Cluster, nodes: list[psutil.Process]) -> None:
    with cluster:
        nodes += signed_in(Project.open(), 1)
        1 / 0  # noqa: B018


def test_the_traceback_of_a_failed_node_does_not_lead_into_our_threads() -> None:
    with pytest.raises(NodeFailed) as caught:
        hopyard.launch(fail, backend="processes")
    places = [entry.name for entry in caught.traceback]
    assert places[-2:] == ["launch", "wait"]


def test_ready_tells_what_ended_the_run_while_it_was_waited_for() -> None:
    cluster = Cluster(fail, backend="inline").start()
    wait_until(lambda: record_of(cluster).state is RunState.FAILED, "the run is over", 10)
    with pytest.raises(NodeFailed, match="no luck"):
        cluster.ready()


def test_a_stop_that_cannot_be_recorded_is_told(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster(sign_in_and_wait, backend="processes").start()
    nodes = signed_in(Project.open(), 1)
    folder = Path(Project.open().path)
    shutil.rmtree(folder)
    folder.write_text("in the way")
    cluster.stop("enough")
    told = "The end of the run could not be recorded: "
    assert told in caplog.text
    with pytest.raises(RunStopped, match="enough") as caught:
        cluster.wait()
    assert [note.startswith(told) for note in caught.value.__notes__] == [True]
    assert not still_running(nodes, 5)


class Deaf:
    """A backend whose nodes end when they want to, whoever tells them to."""

    name = "deaf"
    application = None
    encrypts = False

    def __init__(self) -> None:
        self.want = threading.Event()

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> Deaf:
        return self

    def wait(self, timeout: float | None = None) -> None:
        self.want.wait(timeout)

    def stop(self, reason: str) -> None:
        assert self.want.wait(30)

    def grant(self, grace_seconds: float) -> None:
        raise AssertionError(grace_seconds)

    def status(self) -> tuple[NodeStatus, ...]:
        return (NodeStatus(rank=0, role="chief", phase=Phase.RUNNING),)


def test_a_stop_that_nobody_hears_is_an_error_that_says_so() -> None:
    backend = Deaf()
    cluster = Cluster(square, (2,), backend=backend).start()
    with pytest.raises(StopTimeout, match=r"has not ended within 0\.05 s of being stopped \(enough\)"):
        cluster.stop("enough", timeout=0.05)
    backend.want.set()
    cluster.stop("enough")
    assert record_of(cluster).state is RunState.KILLED


def test_a_stop_of_a_run_that_has_ended_changes_nothing() -> None:
    cluster = Cluster(square, (2,), backend="inline").start()
    cluster.wait()
    cluster.stop("too late")
    assert (cluster.wait().value, record_of(cluster).state) == (4, RunState.FINISHED)


def test_the_evaluators_time_can_be_set_when_it_is_waited_for() -> None:
    cluster = Cluster(serve_for_ever, nodes=2, evaluator=True, grace_seconds=600, backend="processes").start()
    cluster.ready()
    began = time.monotonic()
    assert cluster.shutdown(grace_seconds=0.1).values[1] is None
    assert time.monotonic() - began < 60
    _, evaluator = RunReader(Project.open(), cluster.run_id).outcomes()
    assert (evaluator.state, evaluator.message) == (
        NodeState.FINISHED,
        "it was ended when the training was done",
    )


# --- launch ----------------------------------------------------------------------------------------


def test_a_port_that_the_function_chose_and_did_not_get_is_a_failure_like_any_other() -> None:
    with (
        pytest.raises(NodeFailed, match="Address already in use"),
        Cluster(need_a_port_that_is_taken, backend="processes") as cluster,
    ):
        cluster.wait()
    record = record_of(cluster)
    assert (record.attempts, record.state) == (1, RunState.FAILED)


def test_a_node_whose_port_was_stolen_is_started_again_without_a_word_from_the_user() -> None:
    with thief(Project.open().url()):
        result = hopyard.launch(listen_at_its_own_port, backend="processes")
    assert result.value == 1
    record = RunReader(Project.open(), result.run_id).record()
    assert (record.attempts, record.state) == (2, RunState.FINISHED)
    assert "Address already in use" in record.restarts[0]


def test_two_runs_of_one_driver_go_on_at_the_same_time() -> None:
    first = Cluster(wait_for_a_word, name="first", backend=ProcessesBackend()).start()
    second = hopyard.launch(square, (5,), backend="inline")
    Project.open().put("word", b"")
    assert (second.value, first.wait().value) == (25, 0)
    assert first.run_id != second.run_id


def test_leaving_the_context_after_a_stop_raises_nothing() -> None:
    with Cluster(wait_for_ever, backend="processes", name="stopped inside") as cluster:
        cluster.stop("enough")
    with pytest.raises(RunStopped, match="enough"):
        cluster.wait()


def test_a_cluster_shows_what_users_call_and_nothing_else() -> None:
    assert {name for name in dir(Cluster) if not name.startswith("_")} == {
        *("start", "ready", "nodes", "attempt", "has_ended", "wait", "shutdown", "stop"),
        *("run_id", "logdir", "tensorboard_url"),
        *("feed", "train", "train_stream", "inference"),
    }


def test_a_cluster_that_is_not_fed_has_nothing_of_a_feed() -> None:
    with Cluster(int, backend="inline") as cluster:
        for use in (lambda: cluster.feed, lambda: cluster.train(()), lambda: cluster.train_stream(())):
            with pytest.raises(NotFed, match="started without feed=True"):
                use()


def test_what_feeds_is_not_even_loaded_for_a_cluster_that_is_not_fed() -> None:
    program = (
        "import sys, hopyard; hopyard.Cluster(int, backend='inline'); "
        "print('hopyard.feed.driver.feeding' in sys.modules, 'pyarrow' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True)
    assert found.stdout.split() == [b"False", b"False"]


def show_itself(ctx: NodeContext) -> None:
    print(ctx, ctx.info, flush=True)
    ctx.feed().terminate()


def test_no_secret_of_a_feed_is_in_the_project_or_in_the_log(
    hopyard_root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    cluster = Cluster(show_itself, nodes=2, backend="processes", feed=True).start()
    secret = cluster._feed_secret
    cluster.wait()
    kept = [path for path in hopyard_root.rglob("*") if path.is_file()]
    assert any(b"NodeInfo(run_id=" in path.read_bytes() for path in kept)
    assert [path for path in kept if secret.encode() in path.read_bytes()] == []
    assert secret not in caplog.text


def count_epochs(ctx: NodeContext) -> int:
    return len(list(ctx.feed().epochs()))


def end_the_feed(ctx: NodeContext) -> None:
    ctx.feed().terminate()


def test_a_function_that_reads_where_the_driver_never_fed_fails() -> None:
    told = r"NotFed: reading the feed is not possible: .* call train\(\) or inference\(\) before shutdown\(\) or wait\(\)"
    with (
        pytest.raises(errors.NodeFailed, match=told),
        Cluster(count_epochs, backend="processes", feed=True),
    ):
        pass


def test_a_function_that_ends_its_feed_need_not_be_fed() -> None:
    with Cluster(end_the_feed, backend="processes", feed=True) as cluster:
        assert cluster.wait().value is None


@pytest.mark.parametrize(
    ("method", "option", "remedy"),
    [
        ("train", {"validation_split": 0.2}, "use 'validation'"),
        ("train", {"shufle_seed": 1}, "use 'shuffle_seed'"),
        ("train", {"batch_size": 32}, r"ctx.feed\(\).as_numpy\(32\)"),
        ("inference", {"timeout": 5}, "use 'feed_timeout'"),
    ],
)
def test_who_feeds_with_an_option_that_there_is_none_of_is_told_which_one_is_meant(method, option, remedy):
    cluster = Cluster(lambda ctx: None, feed=True)
    with pytest.raises(
        errors.BadArguments, match=rf"Cluster.{method}\(\): there is no option '.*'; .*{remedy}"
    ):
        getattr(cluster, method)(None, **option)
