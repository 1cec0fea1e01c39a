from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.errors import PathNotFound
from hopyard.store import Project
from hopyard.store.place import Place
from hopyard.tensorboard.mirror import EventMirror

pytestmark = pytest.mark.unit

FILE = "Logs/run.1/train/events.out.tfevents.1.host"


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Project:
    return Project("memory://mirror", request.node.name)


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder


@pytest.fixture
def mirror(project: Project, copies: Path) -> EventMirror:
    return EventMirror(Place(project=project, relative="Logs/run.1"), copies, copies.parent / "incoming")


def test_event_files_are_copied_with_their_folders_and_nothing_else_is(
    project: Project, mirror: EventMirror, copies: Path
) -> None:
    project.put(FILE, b"one")
    project.put("Logs/run.1/model.keras", b"big")
    project.put("Logs/run.2/events.out.tfevents.2.host", b"another run")
    mirror.sync()
    files = [path for path in copies.rglob("*") if path.is_file()]
    assert files == [copies / "train/events.out.tfevents.1.host"]
    assert files[0].read_bytes() == b"one"


def test_a_file_that_grew_is_continued_in_place(project: Project, mirror: EventMirror, copies: Path) -> None:
    project.put(FILE, b"one")
    mirror.sync()
    with (copies / "train/events.out.tfevents.1.host").open("rb") as reader:
        assert reader.read() == b"one"
        project.put(FILE, b"one two")
        mirror.sync()
        assert reader.read() == b" two"


def test_a_file_that_was_started_anew_replaces_the_old(
    project: Project, mirror: EventMirror, copies: Path
) -> None:
    project.put(FILE, b"a long history")
    mirror.sync()
    project.put(FILE, b"anew")
    mirror.sync()
    assert (copies / "train/events.out.tfevents.1.host").read_bytes() == b"anew"


def test_a_file_that_is_gone_from_the_project_is_gone_from_the_copies(
    project: Project, mirror: EventMirror, copies: Path
) -> None:
    project.put(FILE, b"one")
    project.put("Logs/run.1/run.json", b"{}")
    mirror.sync()
    project.remove(FILE)
    mirror.sync()
    assert [path for path in copies.rglob("*") if path.is_file()] == []


def test_a_folder_that_is_not_there_is_an_error(mirror: EventMirror) -> None:
    with pytest.raises(PathNotFound, match=r"run\.1"):
        mirror.sync()


def test_a_whole_project_can_be_mirrored(project: Project, copies: Path) -> None:
    project.put(FILE, b"one")
    EventMirror(Place(project=project, relative=""), copies, copies.parent / "incoming").sync()
    assert (copies / FILE).read_bytes() == b"one"
