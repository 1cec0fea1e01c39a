from pathlib import Path

import pytest

from hopyard.errors import AlreadyExists, FilesNotStored, InvalidName
from hopyard.store import Project
from hopyard.store.filesystem import CHUNK_BYTES

pytestmark = pytest.mark.unit


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.open(str(tmp_path / "root"), "demo")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    (folder / "train").mkdir(parents=True)
    (folder / "train" / "1.csv").write_bytes(b"x" * 10)
    (folder / "labels").write_bytes(b"y" * 5)
    return folder


def test_progress_counts_all_files_of_a_folder(project: Project, dataset: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    project.copy_in(dataset, "data", progress=lambda done, total: steps.append((done, total)))
    assert steps == [(5, 15), (15, 15)]
    steps.clear()
    project.copy_out("data", tmp_path / "out", progress=lambda done, total: steps.append((done, total)))
    assert steps == [(5, 15), (15, 15)]


def test_large_file_travels_in_pieces(project: Project, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"z" * (2 * CHUNK_BYTES + 1))
    steps: list[int] = []
    project.copy_in(tmp_path / "big", "big", progress=lambda done, _: steps.append(done))
    assert steps == [CHUNK_BYTES, 2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 1]


def test_folder_that_exists_is_filled_up_only_on_request(project: Project, dataset: Path) -> None:
    project.put("data/mine", b"stays")
    with pytest.raises(AlreadyExists):
        project.copy_in(dataset, "data")
    project.copy_in(dataset, "data", overwrite=True)
    assert {entry.path for entry in project.walk("data")} == {"data/labels", "data/mine", "data/train/1.csv"}


def test_one_bad_name_stops_a_folder_before_anything_is_copied(project: Project, dataset: Path) -> None:
    (dataset / "train" / "10:00.csv").write_bytes(b"")
    with pytest.raises(InvalidName, match="10:00"):
        project.copy_in(dataset, "data")
    assert not project.exists("data")


def test_what_cannot_be_copied_stops_a_folder_before_anything_is_copied(
    project: Project, dataset: Path
) -> None:
    (dataset / "link").symlink_to("nowhere")
    with pytest.raises(FilesNotStored, match="link"):
        project.copy_in(dataset, "data")
    assert not project.exists("data")


def test_empty_folder_comes_in_and_out(project: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    project.copy_in(tmp_path / "empty", "empty")
    assert project.list("empty") == []
    project.copy_out("empty", tmp_path / "out")
    assert (tmp_path / "out").is_dir()


def test_file_that_a_killed_writer_left_is_not_copied_out(project: Project, tmp_path: Path) -> None:
    project.put("folder/a", b"1")
    Path(project.url("folder"), ".hopyard-tmp-0123").write_bytes(b"half")
    project.copy_out("folder", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a"]


def test_whole_project_comes_out(project: Project, tmp_path: Path) -> None:
    project.put("a/b", b"1")
    project.copy_out("", tmp_path / "out")
    assert (tmp_path / "out" / "a" / "b").read_bytes() == b"1"


def test_relative_local_paths_are_those_of_the_working_folder(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(b"1")
    project.copy_in("in", "file")
    assert project.copy_out("file", "out") == Path("out")
    assert Path("out").read_bytes() == b"1"
