"""What is kept of a node and told of it, and what becomes of it when the store is no more."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hopyard
from hopyard.errors import NodeFailed
from hopyard.protocol.plan import Plan
from hopyard.tracking import RunId, RunReader, RunState, find_run
from hopyard.worker.checkpoints import Checkpoints
from hopyard.worker.recorder import LONGEST_NAME, MOST_METRICS, NodeRecorder
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit


def report_backwards(ctx: hopyard.NodeContext) -> None:
    for step in (1, 2, 2, 1, 0, 3, 1):
        ctx.report(step, loss=0.5)
    for step in (1, 2):
        ctx.report(step, accuracy=0.5)


def train_while_the_store_breaks(ctx: hopyard.NodeContext) -> None:
    """Leaves a model, and a file where the project's folder was."""
    Path(ctx.logdir, "model").write_bytes(b"weights of a week")
    project = Path(ctx.project.path)
    shutil.rmtree(project)
    project.write_text("in the way")


def interrupt_itself() -> None:
    raise KeyboardInterrupt


def leave_odd_names(ctx: hopyard.NodeContext) -> None:
    Path(ctx.logdir, "at:12").write_bytes(b"")
    Path(ctx.logdir, "out").symlink_to("/etc/hostname")


def write_to_the_channel() -> None:
    import os

    os.write(int(os.environ["HOPYARD_CHANNEL"]), b"not a message\n")


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_files_that_the_store_does_not_take_are_put_aside_and_the_error_says_where(backend: str) -> None:
    with pytest.raises(NodeFailed, match="its log folder could not be stored") as caught:
        hopyard.launch(train_while_the_store_breaks, backend=backend)
    rescued = Path(re.findall(r"the files are on \S+ in (\S+/logdir)", str(caught.value))[0])
    assert (rescued / "model").read_bytes() == b"weights of a week"
    assert "The end of the run could not be recorded" in caught.value.__notes__[0]
    shutil.rmtree(rescued.parent)


def test_an_interrupt_of_an_inline_run_is_an_interrupt_of_the_program() -> None:
    with pytest.raises(KeyboardInterrupt):
        hopyard.launch(interrupt_itself, backend="inline", name="interrupted")
    assert find_run(hopyard.Project.open(), "interrupted").record().state is RunState.KILLED


def test_files_that_are_stored_otherwise_or_not_at_all_are_told_in_the_log() -> None:
    result = hopyard.launch(leave_odd_names, backend="inline")
    lines = list(RunReader(hopyard.Project.open(), result.run_id).log())
    assert lines[0] == "[hopyard] the file 'at:12' is stored as 'at%3A12'"
    assert lines[1].startswith("[hopyard] 'out' is not stored: the symbolic link leads out of the folder")


def test_what_is_no_message_on_the_channel_goes_to_the_log() -> None:
    result = hopyard.launch(write_to_the_channel, backend="processes")
    (line,) = RunReader(hopyard.Project.open(), result.run_id).log()
    assert "the line b'not a message' on a node's channel is not a message" in line


# --- what the driver is told -----------------------------------------------------------------------


def keeper(folder: Path, clock: Callable[[], float] = time.monotonic, **options: bool) -> NodeRecorder:
    plan = Plan.of(1)
    task = NodeTask(
        node=plan.nodes[0],
        plan=plan,
        run_id=RunId("app", "launcher", 1),
        project=hopyard.Project.open(),
        payload=b"",
        **options,  # type: ignore[arg-type]
    )
    return NodeRecorder(task, folder, Checkpoints(task, folder), clock)


def reading(name: str, step: int, value: float) -> bytes:
    return json.dumps({"name": name, "step": step, "value": value, "time": 0.0}).encode()


def test_a_sign_has_the_last_step_and_the_last_value_of_each_metric(tmp_path: Path) -> None:
    node = keeper(tmp_path)
    assert (node.sign().step, node.sign().metrics) == (None, {})
    for step in (1, 2):
        node.message(reading("loss", step, 1 / step))
    node.message(reading("accuracy", 2, 0.75))
    assert (node.sign().step, node.sign().metrics) == (2, {"loss": 0.5, "accuracy": 0.75})


def draw_a_bar() -> None:
    sys.stdout.write("1/3 loss: 0.9\r2/3 loss: 0.5\r3/3 loss: 0.1\r\n")


def test_of_a_progress_bar_the_log_has_what_was_drawn_last() -> None:
    run = hopyard.load_run(hopyard.launch(draw_a_bar, backend="processes").run_id)
    assert run.log() == "3/3 loss: 0.1"


def report_nan(ctx: hopyard.NodeContext) -> None:
    for step, loss in enumerate([0.5, math.nan, math.nan]):
        ctx.report(step, loss=loss)


def test_a_metric_that_becomes_nan_is_told_in_the_log_once() -> None:
    run = hopyard.load_run(hopyard.launch(report_nan, backend="processes").run_id)
    told = "[hopyard] the metric 'loss' is NaN at step 1: the training has diverged, or its data has nulls or NaN"
    assert run.log().splitlines().count(told) == 1
    assert run.log().count("NaN") == 2


def test_a_step_that_goes_backwards_is_told_in_the_log_once_for_each_metric() -> None:
    result = hopyard.launch(report_backwards, backend="processes")
    assert list(RunReader(hopyard.Project.open(), result.run_id).log()) == [
        "[hopyard] the metric 'loss' goes back from step 2 to step 1: count steps upwards, or give it another name; "
        "charts show it out of order, and a pruner leaves such steps out"
    ]


def test_a_sign_tells_for_how_long_nothing_was_printed_or_reported(tmp_path: Path) -> None:
    now = 100.0
    node = keeper(tmp_path, lambda: now)
    now = 107.0
    assert node.sign().idle_seconds == 7.0
    node.line(b"a word")
    assert node.sign().idle_seconds == 0.0
    now = 110.0
    node.message(reading("loss", 1, 1.0))
    assert node.sign().idle_seconds == 0.0


def test_output_is_told_once_and_only_where_it_is_wanted(tmp_path: Path) -> None:
    node = keeper(tmp_path, streams=True)
    node.line("ä".encode("latin-1"))
    assert node.sign().lines == ("\ufffd",)
    assert node.sign().lines == ()
    silent = keeper(tmp_path)
    silent.line(b"a word")
    assert silent.sign().lines == ()


def test_addresses_beside_the_node_are_told_again_and_again(tmp_path: Path) -> None:
    node = keeper(tmp_path)
    node.announce("tensorboard", "http://here:6006")
    assert node.sign().notes == node.sign().notes == {"tensorboard": "http://here:6006"}


def test_a_sign_stays_small_however_many_metrics_there_are(tmp_path: Path) -> None:
    node = keeper(tmp_path)
    for number in range(2 * MOST_METRICS):
        node.message(reading(f"{number}" + "x" * 5000, 1, 1.0))
    metrics = node.sign().metrics
    assert len(metrics) == MOST_METRICS
    assert list(metrics)[-1].startswith(f"{2 * MOST_METRICS - 1}")
    assert max(map(len, metrics)) == LONGEST_NAME
