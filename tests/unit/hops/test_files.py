from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hops import hdfs
from hopyard.errors import AlreadyExists, FolderNotEmpty, InvalidName, NotOffered, PathNotFound
from hopyard.store import Project

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("HOPYARD_PROJECT", "demo")
    project = Project.open()
    project.put("Resources/a.csv", b"a")
    project.put("Resources/b.txt", b"bb")
    project.put("Resources/deep/c.csv", b"ccc")
    return project


@pytest.fixture
def in_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPYARD_ROOT", f"memory://{request.node.name}")


def full(*names: str) -> list[str]:
    return [hdfs.project_path() + name for name in names]


@pytest.mark.parametrize("path", ["Resources/a.csv", "/Resources/a.csv", "/Projects/demo/Resources/a.csv"])
def test_every_spelling_of_a_path_means_the_same_file(path: str) -> None:
    assert hdfs.abs_path(path) == hdfs.project_path() + "Resources/a.csv"
    assert hdfs.load(path) == b"a"


def test_full_paths_are_understood() -> None:
    assert hdfs.load(hdfs.project_path() + "Resources/a.csv") == b"a"
    assert hdfs.load("hopsfs:///Projects/demo/Resources/a.csv") == b"a"


def test_a_url_in_no_project_is_refused() -> None:
    with pytest.raises(InvalidName, match="in no project"):
        hdfs.exists("s3://bucket/file")


def test_files_and_folders_are_told_apart() -> None:
    assert hdfs.exists("Resources")
    assert hdfs.isdir("Resources")
    assert not hdfs.isfile("Resources")
    assert hdfs.isfile("Resources/a.csv")
    assert not hdfs.isdir("Resources/a.csv")
    assert not hdfs.exists("Resources/none")


def test_a_listing_has_full_paths() -> None:
    assert hdfs.ls("Resources") == full("Resources/a.csv", "Resources/b.txt", "Resources/deep")


def test_a_recursive_listing_has_folders_and_what_is_in_them() -> None:
    assert hdfs.ls("Resources", recursive=True)[2:] == full("Resources/deep", "Resources/deep/c.csv")


def test_a_listing_of_a_file_is_the_file() -> None:
    assert hdfs.ls("Resources/a.csv") == full("Resources/a.csv")


def test_a_long_listing_tells_kind_and_size() -> None:
    rows = [(row["name"], row["kind"], row["size"]) for row in hdfs.lsl("Resources")]
    kinds = zip(("file", "file", "directory"), (1, 2, 0), strict=True)
    assert rows == [(name, *rest) for name, rest in zip(hdfs.ls("Resources"), kinds, strict=True)]


def test_a_pattern_matches_names() -> None:
    assert hdfs.glob("Resources/*.csv") == full("Resources/a.csv")
    assert hdfs.glob("Resources/*.csv", recursive=True) == full("Resources/a.csv", "Resources/deep/c.csv")


def test_stat_tells_what_os_stat_does() -> None:
    assert hdfs.stat("Resources/b.txt").st_size == 2
    assert hdfs.stat("Resources/b.txt").st_mtime > 0
    assert hdfs.stat("Resources").kind == "directory"
    found, expected = hdfs.stat("Resources/a.csv"), os.stat(hdfs.abs_path("Resources/a.csv"))
    fields = ("mode", "ino", "dev", "nlink", "uid", "gid", "size", "mtime", "ctime", "blksize", "blocks")
    for field in fields:
        assert getattr(found, f"st_{field}") == getattr(expected, f"st_{field}")
    assert found.st_atime > 0
    with pytest.raises(PathNotFound):
        hdfs.stat("Resources/none")


@pytest.mark.usefixtures("in_memory")
def test_stat_of_another_store_has_the_same_fields() -> None:
    hdfs.dump("bb", "Resources/b.txt")
    found = hdfs.stat("Resources/b.txt")
    assert stat.S_ISREG(found.st_mode)
    assert (found.st_size, found.st_uid, found.st_nlink, found.replication) == (2, 0, 1, 1)


def test_folders_are_made_and_removed() -> None:
    hdfs.mkdir("New/deep")
    hdfs.dump("x", "New/deep/file")
    with pytest.raises(FolderNotEmpty):
        hdfs.delete("New")
    hdfs.rmr("New")
    assert not hdfs.exists("New")


def test_a_move_into_a_folder_keeps_the_name() -> None:
    hdfs.move("Resources/a.csv", "Resources/deep")
    assert hdfs.load("Resources/deep/a.csv") == b"a"
    assert not hdfs.exists("Resources/a.csv")


def test_a_rename_gives_the_new_name() -> None:
    hdfs.rename("Resources/a.csv", "Resources/z.csv")
    assert hdfs.load("Resources/z.csv") == b"a"


def test_a_move_to_another_project_takes_the_folder_along() -> None:
    hdfs.move("Resources", "/Projects/other/Datasets")
    assert hdfs.load("/Projects/other/Datasets/deep/c.csv") == b"ccc"
    assert not hdfs.exists("Resources")


def test_a_copy_leaves_the_original() -> None:
    hdfs.cp("Resources", "Copy")
    assert hdfs.load("Copy/deep/c.csv") == hdfs.load("Resources/deep/c.csv") == b"ccc"


def test_a_copy_replaces_only_when_asked_to() -> None:
    with pytest.raises(AlreadyExists):
        hdfs.cp("Resources/a.csv", "Resources/b.txt")
    hdfs.cp("Resources/a.csv", "Resources/b.txt", overwrite=True)
    assert hdfs.load("Resources/b.txt") == b"a"


def test_a_copy_of_nothing_removes_nothing() -> None:
    with pytest.raises(PathNotFound):
        hdfs.cp("Resources/none", "Resources/a.csv", overwrite=True)
    assert hdfs.load("Resources/a.csv") == b"a"


@pytest.mark.usefixtures("in_memory")
@pytest.mark.parametrize(
    "call",
    [
        lambda: hdfs.chmod("file", 0o600),
        lambda: hdfs.chown("file", "user", "group"),
        lambda: hdfs.access("file", os.R_OK),
        hdfs.capacity,
    ],
)
def test_what_a_store_cannot_do_is_said(call: object) -> None:
    hdfs.dump("x", "file")
    with pytest.raises(NotOffered, match="memory://"):
        call()  # type: ignore[operator]


def test_a_local_project_has_permissions_and_a_size(hopyard_root: Path) -> None:
    hdfs.chmod("Resources/a.csv", 0o400)
    assert (hopyard_root / "Projects/demo/Resources/a.csv").stat().st_mode & 0o777 == 0o400
    assert hdfs.access("Resources/a.csv", os.R_OK)
    assert hdfs.capacity() > 0


@pytest.mark.usefixtures("in_memory")
def test_the_handle_does_what_programs_did_with_pydoops() -> None:
    with hdfs.get_fs() as fs:
        assert fs.create_directory("Logs/new")
        with fs.open_file("Logs/new/file", flags="w") as file:
            file.write(b"text")
        assert [row["name"] for row in fs.list_directory("Logs/new")] == full("Logs/new/file")
        assert fs.get_path_info("Logs/new/file")["size"] == 4
        assert fs.rename("Logs/new/file", "Logs/new/other")
        assert fs.delete("Logs")
        assert not fs.delete("Logs")
        assert not fs.exists("Logs")
