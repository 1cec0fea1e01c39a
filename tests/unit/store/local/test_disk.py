import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.errors import AlreadyExists, InvalidName
from hopyard.store import Project
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.unit


class TestLocalStore(StoreContract):
    @pytest.fixture
    def project(self, tmp_path: Path) -> Project:
        return Project.open(str(tmp_path / "root"), "demo")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.open(str(tmp_path / "root"), "demo")


def test_nothing_but_the_files_is_on_the_disk_after_writing(project: Project) -> None:
    project.put("folder/a", b"1")
    project.put("folder/a", b"2")
    project.create("folder/b", b"3")
    with pytest.raises(AlreadyExists):
        project.create("folder/b", b"4")
    assert sorted(os.listdir(project.url("folder"))) == ["a", "b"]


def test_file_of_a_killed_writer_is_not_listed(project: Project) -> None:
    project.put("folder/a", b"1")
    Path(project.url("folder"), ".hopyard-tmp-0123").write_bytes(b"half")
    assert [entry.name for entry in project.list("folder")] == ["a"]
    assert [entry.name for entry in project.walk()] == ["a"]


def test_replacing_does_not_write_through_an_open_reader(project: Project) -> None:
    project.put("file", b"old")
    with open(project.url("file"), "rb") as reader:
        project.put("file", b"new")
        assert reader.read() == b"old"


def test_broken_symbolic_link_is_not_there(project: Project) -> None:
    project.put("folder/a", b"1")
    Path(project.url("folder"), "link").symlink_to("nowhere")
    assert [entry.name for entry in project.list("folder")] == ["a"]
    assert not project.exists("folder/link")


def test_removing_a_link_to_a_folder_keeps_the_folder(project: Project, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_bytes(b"1")
    project.mkdir("Resources")
    Path(project.url("Resources"), "link").symlink_to(tmp_path / "data")
    project.remove("Resources/link", recursive=True)
    assert (tmp_path / "data" / "file").exists()


def test_files_get_the_permissions_that_the_user_asks_for(project: Project) -> None:
    before = os.umask(0o027)
    try:
        project.put("file", b"")
    finally:
        os.umask(before)
    assert os.stat(project.url("file")).st_mode & 0o777 == 0o640


names = st.text(st.characters(exclude_categories=()), min_size=1, max_size=260)


@settings(deadline=None, max_examples=50)  # a shared disk has its moments
@given(st.lists(names, min_size=1, max_size=3).map("/".join))
def test_any_text_is_held_by_the_disk_or_refused(path: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        project = Project(root, "any")
        try:
            project.put(path, b"content")
        except InvalidName:
            assert not project.exists()
            return
        assert project.read(path) == b"content"
        assert [entry.path for entry in project.walk()] == [path]
