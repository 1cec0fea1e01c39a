"""Files that a function leaves where nobody keeps them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hopyard
from hopyard.store import Project
from hopyard.worker.left_files import MOST_TOLD, WorkingFolder, gather

pytestmark = pytest.mark.unit

EXECUTOR = {"SPARK_EXECUTOR_DIRS": "/somewhere"}


def forget_the_slash(ctx: hopyard.NodeContext) -> None:
    Path(str(ctx.logdir) + "model.pt").write_bytes(b"weights")


def leave_a_file() -> None:
    Path("left.txt").write_text("x")


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_a_file_whose_path_lacks_the_slash_is_kept_with_the_run_and_the_log_says_so(backend: str) -> None:
    result = hopyard.launch(forget_the_slash, backend=backend)
    project = Project.open()
    folder = project.relative(result.logdir)
    assert project.read(f"{folder}/model.pt") == b"weights"
    assert "'logdirmodel.pt' was left beside the log folder, and is kept in it as 'model.pt'" in (
        project.read(f"{folder}/logfile").decode()
    )


def test_what_lies_beside_a_log_folder_does_not_replace_what_is_in_it(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    logdir.mkdir()
    (logdir / "a").write_text("inside")
    (tmp_path / "logdira").write_text("beside")
    (tmp_path / "other").write_text("")
    assert gather(logdir) == [("logdira", "logdira")]
    assert (logdir / "a").read_text() == "inside"
    assert (logdir / "logdira").read_text() == "beside"
    assert (tmp_path / "other").exists()


def test_a_file_in_the_working_folder_of_an_executor_is_told_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_EXECUTOR_DIRS", "/somewhere")
    result = hopyard.launch(leave_a_file, backend="processes")
    log = Path(result.logdir, "logfile").read_text()
    assert f"left in the working folder {tmp_path} on " in log
    assert "left.txt" in log
    assert "Save to ctx.logdir" in log


def test_new_and_changed_files_are_told_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old", "changed", "stdout"):
        Path(name).write_text("")
    before = WorkingFolder.here(EXECUTOR)
    assert before.told() == ""
    Path("changed").write_text("more")
    Path("stdout").write_text("a line")
    Path(".hidden").write_text("")
    Path("new").mkdir()
    assert "executor: changed, new. Save" in before.told()


def test_many_files_are_counted_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = WorkingFolder.here(EXECUTOR)
    for number in range(MOST_TOLD + 3):
        Path(f"part-{number:02}").write_text("")
    assert " and 3 more. Save" in before.told()


def test_a_folder_of_the_user_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = WorkingFolder.here({})
    Path("new").write_text("")
    assert before.told() == ""


def test_a_working_folder_that_is_gone_is_nothing_to_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    before = WorkingFolder.here(EXECUTOR)
    os.rmdir(folder)
    assert before.told() == ""
    assert WorkingFolder.here(EXECUTOR) == WorkingFolder()
