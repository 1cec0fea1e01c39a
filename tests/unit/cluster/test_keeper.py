"""What becomes of a node's files and of its error when the store is no more."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import hopyard
from hopyard.errors import NodeFailed
from hopyard.tracking import RunReader, RunState, find_run

pytestmark = pytest.mark.unit


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
