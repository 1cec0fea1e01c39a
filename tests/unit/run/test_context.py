from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from hopyard import NodeContext, Project, RunResult
from hopyard.errors import BadReport, InvalidName, NotFed, NotInsideRun
from hopyard.protocol.channel import VARIABLE, Reading, parse
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.plan import Plan
from hopyard.tracking import RunId, RunState
from hopyard.worker.ports import hold_port
from hopyard.worker.task import NodePlace, NodeTask

pytestmark = pytest.mark.unit

PLAN = Plan.of(5, ps=1, evaluator=True)
MEMBERS = ClusterMap.of({node: f"10.0.0.{node.rank}:80" for node in PLAN.nodes})


def context(folder: Path, rank: int = 0, *, port: int = -1) -> NodeContext:
    """Returns what a node's process would make of its environment."""
    task = NodeTask(
        node=PLAN.nodes[rank],
        plan=PLAN,
        run_id=RunId("app", "launcher", 1),
        project=Project.open(),
        payload=b"",
        attempt=2,
    )
    place = NodePlace(scratch=folder, checkpoints=folder / "checkpoints", members=MEMBERS, port=port)
    return NodeContext.current(task.variables(place))


def test_a_trial_that_wants_to_be_fed_is_told_to_read_from_the_project(tmp_path: Path) -> None:
    outside = context(tmp_path)
    with pytest.raises(NotFed, match="use Cluster"):
        outside.feed()
    trial = NodeContext(info=replace(outside.info, trial=3))
    with pytest.raises(
        NotFed, match=r"a trial of a search is not fed; .* write the DataFrame to the project"
    ):
        trial.feed()


@pytest.fixture
def held() -> Iterator[int]:
    """The descriptor of a held port, as a node's process inherits it."""
    with hold_port() as port:
        yield port.give_away()


def port_of(descriptor: int) -> int:
    with socket.socket(fileno=os.dup(descriptor)) as bound:
        return int(bound.getsockname()[1])


@contextmanager
def second_descriptor(descriptor: int, number: int) -> Iterator[None]:
    """Gives what a descriptor stands for another number, as if the system had chosen that one."""
    os.dup2(descriptor, number)
    try:
        yield
    finally:
        os.close(number)


def test_there_is_no_context_outside_a_node() -> None:
    with pytest.raises(NotInsideRun, match="inside the function that"):
        NodeContext.current({})


@pytest.fixture
def channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that a node's reports go to."""
    with (tmp_path / "channel").open("wb") as file:
        monkeypatch.setenv(VARIABLE, str(file.fileno()))
        yield tmp_path / "channel"


def test_a_report_is_sent_as_numbers(tmp_path: Path, channel: Path) -> None:
    context(tmp_path).report(np.int64(3), loss=np.array([0.5]), accuracy=1)
    readings = [parse(line) for line in channel.read_bytes().splitlines()]
    told = [(each.name, each.step, each.value) for each in readings if isinstance(each, Reading)]
    assert told == [("loss", 3, 0.5), ("accuracy", 3, 1.0)]


def test_nothing_is_sent_of_a_report_in_which_one_value_is_wrong(tmp_path: Path, channel: Path) -> None:
    with pytest.raises(BadReport, match=r"the metric 'note' is 'low' \(type str\)"):
        context(tmp_path).report(1, loss=0.5, note="low")  # type: ignore[arg-type]
    with pytest.raises(BadReport, match=r"the step is 'one' \(type str\)"):
        context(tmp_path).report("one", loss=1)  # type: ignore[arg-type]
    with pytest.raises(BadReport, match="at least one"):
        context(tmp_path).report(3)
    assert channel.read_bytes() == b""


def test_a_node_knows_its_place_and_the_addresses_of_all(tmp_path: Path) -> None:
    ctx = context(tmp_path, rank=2)
    assert (ctx.rank, ctx.size, ctx.num_workers, ctx.role, ctx.task_index) == (2, 5, 3, "worker", 1)
    assert ctx.cluster == {
        "chief": ["10.0.0.0:80"],
        "worker": ["10.0.0.1:80", "10.0.0.2:80"],
        "ps": ["10.0.0.3:80"],
        "evaluator": ["10.0.0.4:80"],
    }
    assert (ctx.run_id, ctx.attempt) == ("app/launcher/run.1", 2)


def test_a_node_is_to_stop_once_its_supervisor_has_said_so(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    assert not ctx.should_stop()
    (tmp_path / "stop").touch()
    assert ctx.should_stop()


def test_the_folder_for_checkpoints_is_there_when_it_is_asked_for(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    assert not (tmp_path / "checkpoints").exists()
    assert Path(ctx.checkpoint_dir).is_dir()
    assert ctx.checkpoint_dir == str(tmp_path / "checkpoints")


def test_paths_are_those_of_the_project(tmp_path: Path) -> None:
    assert context(tmp_path).path("Resources/mnist") == Project.open().url("Resources/mnist")


def test_paths_may_be_those_of_pathlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPYARD_ROOT", str(tmp_path))
    ctx = context(tmp_path)
    Project.open().put("Resources/data.csv", b"1,2")
    file = Path("Resources/data.csv")
    assert ctx.path(file) == ctx.path("Resources/data.csv")
    assert Path(ctx.fetch(file)).read_bytes() == Path(ctx.fetch(Path(ctx.path(file)))).read_bytes() == b"1,2"


def test_a_file_of_an_earlier_run_is_had_by_its_full_path(tmp_path: Path) -> None:
    earlier = RunResult(
        run_id="app/launcher/run.1",
        state=RunState.FINISHED,
        values=(None,),
        logdir=Project.open().url("Logs/TensorFlow/app/launcher/run.1"),
    )
    Project.open().put(earlier.path("model.bin"), b"weights")
    ctx = context(tmp_path)
    assert ctx.path(earlier.logdir + "/model.bin") == ctx.path(earlier.path("model.bin"))
    assert Path(ctx.fetch(earlier.path("model.bin"))).read_bytes() == b"weights"
    with pytest.raises(InvalidName, match="no path leaves the project"):
        earlier.path("../run.2/model.bin")


def test_a_file_of_another_store_is_fetched_to_the_disk_of_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPYARD_ROOT", f"memory://{uuid4().hex}")
    Project.open().put("Models/a/1/model.bin", b"weights")
    fetched = Path(context(tmp_path).fetch("Models/a"), "1", "model.bin")
    assert fetched.read_bytes() == b"weights"
    assert fetched.is_relative_to(tmp_path / "fetched")


def test_a_port_that_was_released_can_be_had_by_a_server_that_needs_it_alone(
    tmp_path: Path, held: int
) -> None:
    port = port_of(held)
    with socket.socket() as server:
        with pytest.raises(OSError, match="in use"):
            server.bind(("", port))
        context(tmp_path, port=held).release_port()
        server.bind(("", port))


def test_a_second_release_harms_no_server_that_got_port_and_descriptor_meanwhile(
    tmp_path: Path, held: int
) -> None:
    port = port_of(held)
    ctx = context(tmp_path, port=held)
    with socket.socket() as server:
        ctx.release_port()
        server.bind(("", port))
        with second_descriptor(server.fileno(), held):
            ctx.release_port()
            assert port_of(held) == port


def test_a_second_release_harms_no_file_that_got_the_descriptor_meanwhile(tmp_path: Path, held: int) -> None:
    ctx = context(tmp_path, port=held)
    with open(os.devnull) as file:
        ctx.release_port()
        with second_descriptor(file.fileno(), held):
            ctx.release_port()
            assert os.fstat(held)


def test_a_node_without_a_port_has_nothing_to_release(tmp_path: Path) -> None:
    context(tmp_path).release_port()
