from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.errors import InvalidName, NotAFolder, PathNotFound
from hopyard.store import Project
from hopyard.store.place import Place
from hopyard.tensorboard.source import find_folder

pytestmark = pytest.mark.unit


def test_a_folder_of_the_project_is_found_by_its_relative_path() -> None:
    project = Project.open()
    project.put("Logs/run.1/run.json", b"{}")
    assert find_folder("Logs/run.1") == Place(project=project, relative="Logs/run.1")


def test_any_other_local_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    assert find_folder(str(tmp_path)) == tmp_path
    assert find_folder(f"file://{tmp_path}") == tmp_path


@pytest.mark.parametrize("path", ["Logs/nothing", "/Projects/nobody/Logs", "/no/such/folder"])
def test_a_folder_that_is_not_there_is_told_by_its_path(path: str) -> None:
    with pytest.raises(PathNotFound, match=path.rpartition("/")[2]):
        find_folder(path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    Project.open().put("Logs/file", b"")
    (tmp_path / "plain").write_bytes(b"")
    for path in ("Logs/file", str(tmp_path / "plain")):
        with pytest.raises(NotAFolder):
            find_folder(path)


def test_a_remote_folder_outside_of_every_project_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidName, match="Projects"):
        find_folder("s3://bucket/somewhere")
