from __future__ import annotations

import pytest

from hops import hdfs
from hopyard.errors import PathNotFound
from hopyard.store import Project

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def project(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("HOPYARD_ROOT", f"memory://{request.node.name}")
    project = Project.open()
    project.put("file", b"one\ntwo\n")
    return project


def test_a_file_is_read_as_bytes_or_text() -> None:
    with hdfs.open_file("file", flags="r") as file:
        assert file.readline() == b"one\n"
    with hdfs.open_file("file", flags="rt") as file:
        assert list(file) == ["one\n", "two\n"]


def test_what_is_written_is_there_after_the_close(project: Project) -> None:
    file = hdfs.open_file("new/file", flags="w")
    file.write(b"content")
    assert not project.exists("new/file")
    file.close()
    assert project.read("new/file") == b"content"


def test_text_is_written_as_utf_8(project: Project) -> None:
    with hdfs.open_file("file", flags="wt") as file:
        file.write("größer")
    assert project.read("file") == "größer".encode()


def test_a_file_is_continued(project: Project) -> None:
    with hdfs.open_file("file", flags="a") as file:
        file.write(b"three\n")
    assert project.read("file") == b"one\ntwo\nthree\n"


def test_a_file_is_changed_in_place(project: Project) -> None:
    with hdfs.open_file("file") as file:
        file.read(4)
        file.write(b"TWO")
    assert project.read("file") == b"one\nTWO\n"


def test_reading_stores_nothing(project: Project) -> None:
    with hdfs.open_file("file") as file:
        file.read()
        project.remove("file")
    assert not project.exists("file")


def test_a_missing_file_cannot_be_read() -> None:
    with pytest.raises(PathNotFound, match="none"):
        hdfs.open_file("none", flags="r")


def test_unknown_flags_are_refused() -> None:
    with pytest.raises(ValueError, match="flags='x'"):
        hdfs.open_file("file", flags="x")
