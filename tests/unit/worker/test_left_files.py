"""Files that a function leaves where nobody keeps them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hopyard
from hopyard.store import Project
from hopyard.worker.left_files import KEPT_IN, MOST_TOLD, LeftFiles, WorkingFolder, gather

pytestmark = pytest.mark.unit

EXECUTOR = {"SPARK_EXECUTOR_DIRS": "/somewhere"}


def forget_the_slash(ctx: hopyard.NodeContext) -> None:
    Path(str(ctx.logdir) + "model.pt").write_bytes(b"weights")


def leave_a_model() -> None:
    Path("export/1").mkdir(parents=True)
    Path("export/1/weights").write_text("w")


def leave_and_fail() -> None:
    Path("left.txt").write_text("x")
    raise RuntimeError


@pytest.fixture
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log folder that is not in the working folder."""
    return tmp_path_factory.mktemp("logdir")


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


def test_what_a_function_leaves_in_the_working_folder_of_an_executor_is_kept_and_the_driver_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_EXECUTOR_DIRS", "/somewhere")
    result = hopyard.launch(leave_a_model, backend="processes")
    assert Path(result.logdir, "working_folder/export/1/weights").read_text() == "w"
    told = [line for line in caplog.messages if "relative paths" in line]
    assert told == [f"files that were written to relative paths: {result.logdir}/working_folder (export)"]


def test_what_a_function_left_before_it_failed_is_kept_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_EXECUTOR_DIRS", "/somewhere")
    with pytest.raises(hopyard.errors.NodeFailed):
        hopyard.launch(leave_and_fail, backend="processes")
    (told,) = (line for line in caplog.messages if "relative paths" in line)
    assert "working_folder (left.txt)" in told


def test_new_and_changed_files_are_kept_and_others_are_not(
    tmp_path: Path, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model").mkdir()
    for name in ("old", "changed", "stdout", "model/old", "model/changed"):
        Path(name).write_text("")
    before = WorkingFolder.here(EXECUTOR)
    assert before.keep(logdir) == LeftFiles()
    for name in ("changed", "stdout", ".hidden", "model/changed", "new"):
        Path(name).write_text("more")
    assert before.keep(logdir).kept == "changed, model, new"
    kept = (path for path in (logdir / KEPT_IN).rglob("*") if path.is_file())
    assert sorted(path.name for path in kept) == ["changed", "changed", "new"]
    assert Path("new").read_text() == "more"


def test_a_file_that_is_too_large_is_left_out_and_told_with_its_size(
    tmp_path: Path, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = WorkingFolder.here(EXECUTOR)
    Path("large").write_bytes(bytes(3_000_000))
    Path("small").write_bytes(bytes(10))
    left = before.keep(logdir, most_bytes=2_000_000)
    assert left.kept == "small"
    assert left.lost.startswith(f"large (3.0 MB, and 2.0 MB are kept in all) in {tmp_path} on ")


def test_many_files_are_counted_not_listed(
    tmp_path: Path, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = WorkingFolder.here(EXECUTOR)
    for number in range(MOST_TOLD + 3):
        Path(f"part-{number:02}").write_text("")
    assert before.keep(logdir).kept.endswith("part-09 and 3 more")


def test_a_folder_of_the_user_is_not_looked_at(
    tmp_path: Path, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = WorkingFolder.here({})
    Path("new").write_text("")
    assert before.keep(logdir) == LeftFiles()


def test_a_working_folder_that_is_gone_leaves_nothing_to_keep(
    tmp_path: Path, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    before = WorkingFolder.here(EXECUTOR)
    os.rmdir(folder)
    assert before.keep(logdir) == LeftFiles()
    assert WorkingFolder.here(EXECUTOR) == WorkingFolder()
