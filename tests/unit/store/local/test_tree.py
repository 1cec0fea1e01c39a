import os
from pathlib import Path

import pytest

from hopyard.store.local.tree import LocalFile, Refused, local_files

pytestmark = pytest.mark.unit


def names(folder: Path, *, confined: bool = True) -> list[str]:
    found = local_files(folder, confined=confined)
    return [item.relative for item in found if isinstance(item, LocalFile)]


def refusals(folder: Path, *, confined: bool = True) -> dict[str, str]:
    found = local_files(folder, confined=confined)
    return {item.relative: item.reason for item in found if isinstance(item, Refused)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "a").write_bytes(b"")
    (folder / "below" / "b").write_bytes(b"")
    return folder


def test_all_files_below_are_found(folder: Path) -> None:
    assert names(folder) == ["a", "below/b"]
    assert refusals(folder) == {}


def test_missing_folder_has_no_files(tmp_path: Path) -> None:
    assert names(tmp_path / "nothing") == []


def test_link_inside_the_folder_is_followed(folder: Path) -> None:
    (folder / "file-link").symlink_to("below/b")
    (folder / "folder-link").symlink_to("below")
    assert names(folder) == ["a", "below/b", "file-link", "folder-link/b"]


def test_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "outside").mkdir()
    (folder / "below" / "file-link").symlink_to(tmp_path / "secret")
    (folder / "folder-link").symlink_to(tmp_path / "outside")
    assert names(folder) == ["a", "below/b"]
    assert refusals(folder).keys() == {"below/file-link", "folder-link"}
    assert "out of the folder" in refusals(folder)["folder-link"]


def test_link_out_of_the_folder_is_followed_where_nothing_is_confined(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_bytes(b"")
    (folder / "link").symlink_to(tmp_path / "data")
    assert names(folder, confined=False) == ["a", "below/b", "link/file"]


def test_link_in_a_circle_ends(folder: Path) -> None:
    (folder / "below" / "up").symlink_to(folder)
    (folder / "self").symlink_to("self")
    assert names(folder) == ["a", "below/b"]
    assert refusals(folder).keys() == {"below/up", "self"}


def test_link_to_nowhere_is_named(folder: Path) -> None:
    (folder / "link").symlink_to("gone")
    assert refusals(folder) == {"link": "the symbolic link leads nowhere"}


def test_pipe_is_named_and_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert refusals(folder) == {"pipe": "it is neither a file nor a folder"}
