from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from hops import hdfs
from hopyard.errors import AlreadyExists
from hopyard.store import Project

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("HOPYARD_PROJECT", "demo")
    monkeypatch.delenv("HADOOP_USER_NAME", raising=False)
    return Project.open()


def test_the_path_of_the_project_can_be_continued(hopyard_root: Path) -> None:
    assert hdfs.project_path() + "Resources/mnist" == f"{hopyard_root}/Projects/demo/Resources/mnist"


def test_the_path_of_another_project_is_asked_for_by_name(hopyard_root: Path) -> None:
    expected = f"{hopyard_root}/Projects/other/"
    assert hdfs.project_path("other") == expected
    assert hdfs.project_path(project="other") == expected
    assert hdfs.project_path(project_name="other") == expected


def test_the_path_of_a_project_on_hdfs_comes_without_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPYARD_ROOT", "hdfs://10.0.2.15:8020")
    assert hdfs.project_path() == "hdfs://10.0.2.15:8020/Projects/demo/"
    assert hdfs.project_path(None, True) == "hdfs:///Projects/demo/"
    assert hdfs.project_path(exclude_nn_addr=True) == "hdfs:///Projects/demo/"


def test_a_plain_path_has_no_protocol_and_no_host(hopyard_root: Path) -> None:
    assert hdfs.get_plain_path("hdfs://10.0.2.15:8020/Projects/demo/Models/") == "/Projects/demo/Models/"
    assert hdfs.get_plain_path("hopsfs:///Projects/demo") == "/Projects/demo"
    assert hdfs.get_plain_path("/Projects/demo/Models") == "/Projects/demo/Models"
    assert hdfs.get_plain_path("Models/a") == f"{hopyard_root}/Projects/demo/Models/a"


def test_name_and_user_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hdfs.project_name() == "demo"
    assert hdfs.project_user().startswith("demo__")
    monkeypatch.setenv("HADOOP_USER_NAME", "demo__meb")
    assert hdfs.project_user() == "demo__meb"


def test_a_log_line_has_the_time_in_front(capsys: pytest.CaptureFixture[str]) -> None:
    hdfs.log("Some string")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d: Some string\n", capsys.readouterr().out)


def test_a_log_of_something_else_is_an_error_line(capsys: pytest.CaptureFixture[str]) -> None:
    hdfs.log(0.5)  # type: ignore[arg-type]
    assert re.search(r": ERROR: .*0\.5\n$", capsys.readouterr().out)


def test_a_file_is_copied_into_a_folder_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1,2")
    hdfs.copy_to_project(str(tmp_path / "data.csv"), "/Resources")
    assert hdfs.load("Resources/data.csv") == b"1,2"


def test_a_copy_replaces_only_when_asked_to(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("old")
    hdfs.copy_to_hdfs(str(source), "Resources")
    source.write_text("new")
    with pytest.raises(AlreadyExists):
        hdfs.copy_to_hdfs(str(source), "Resources")
    hdfs.copy_to_hdfs(str(source), "Resources", overwrite=True)
    assert hdfs.load("Resources/data.csv") == b"new"


def test_a_folder_comes_back_as_it_went(tmp_path: Path) -> None:
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/file").write_text("x")
    hdfs.copy_to_project(str(tmp_path / "data"), "Resources", project="other")
    copy = hdfs.copy_from_project("Resources/data", str(tmp_path / "back"), project="other")
    assert copy == str(tmp_path / "back/data")
    assert (tmp_path / "back/data/deep/file").read_text() == "x"


def test_a_copy_without_a_folder_lands_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hdfs.dump("x", "Resources/file")
    assert hdfs.copy_to_local("Resources/file") == str(tmp_path / "file")


def test_a_second_copy_returns_the_path_and_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    hdfs.dump("data", "Resources/file")
    os.utime(Project.open().url("Resources/file"), (1, 1))  # written long before it is copied
    first = Path(hdfs.copy_to_local("Resources/file", str(tmp_path)))
    written = first.stat().st_mtime_ns
    assert hdfs.copy_to_local("Resources/file", str(tmp_path)) == str(first)
    assert first.stat().st_mtime_ns == written


@pytest.mark.parametrize("changed", ["more data", "DATA"])
def test_a_second_copy_of_a_file_that_has_changed_is_the_new_file(tmp_path: Path, changed: str) -> None:
    hdfs.dump("data", "Resources/file")
    hdfs.copy_to_local("Resources/file", str(tmp_path))
    hdfs.dump(changed, "Resources/file")
    assert Path(hdfs.copy_to_local("Resources/file", str(tmp_path))).read_text() == changed


def test_a_second_copy_of_a_folder_fetches_what_is_missing(tmp_path: Path) -> None:
    hdfs.dump("a", "Resources/data/a")
    hdfs.dump("b", "Resources/data/deep/b")
    copy = Path(hdfs.copy_to_local("Resources/data", str(tmp_path)))
    assert hdfs.copy_to_local("Resources/data", str(tmp_path)) == str(copy)
    (copy / "deep/b").unlink()
    assert hdfs.copy_to_local("Resources/data", str(tmp_path)) == str(copy)
    assert (copy / "deep/b").read_text() == "b"


def test_a_local_folder_with_files_of_its_own_is_not_touched(tmp_path: Path) -> None:
    hdfs.dump("a", "Resources/data/a")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine").write_text("my work")
    with pytest.raises(AlreadyExists):
        hdfs.copy_to_local("Resources/data", str(tmp_path))
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["mine"]


def test_the_logger_needs_no_start_and_no_end(capsys: pytest.CaptureFixture[str]) -> None:
    hdfs.init_logger()
    hdfs.log("between")
    hdfs.kill_logger()
    assert "between" in capsys.readouterr().out
