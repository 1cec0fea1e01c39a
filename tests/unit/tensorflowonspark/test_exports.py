from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.errors import AlreadyExists
from hopyard.store.location import Location
from hopyard.store.project import Project
from hopyard.store.registry import connect
from tensorflowonspark.exports import destination

pytestmark = pytest.mark.unit


def write(folder: str, text: str) -> None:
    (Path(folder) / "variables").mkdir(parents=True)
    (Path(folder) / "saved_model.pb").write_text(text)
    (Path(folder) / "variables/variables.index").write_text("v")


def write_twice(folder: str) -> None:
    write(folder, "half")
    write(folder, "fails, as the folders are there")


def content(url: str) -> bytes:
    location = Location.parse(url)
    return b"".join(connect(location, {}).read(location.path))


@pytest.mark.parametrize("path", ["relative/model", "/absolute/model", "file:///model", "gs://bucket/model"])
def test_tensorflow_itself_writes_to_local_disks_and_what_it_knows(path: str) -> None:
    with destination(path, overwrite=True) as folder:
        assert folder == path


def test_a_model_reaches_a_store_that_tensorflow_cannot_write_to() -> None:
    with destination("memory://exports/models/1", overwrite=False) as folder:
        write(folder, "graph")
    assert content("memory://exports/models/1/saved_model.pb") == b"graph"
    assert content("memory://exports/models/1/variables/variables.index") == b"v"
    assert not Path(folder).exists()


def test_a_model_inside_a_project_is_reached_as_the_project_is() -> None:
    project = Project.open("memory://root", "exports")
    with destination(project.url("Models/m/1"), overwrite=False) as folder:
        write(folder, "graph")
    assert project.read("Models/m/1/saved_model.pb") == b"graph"


def test_a_model_is_overwritten_only_if_that_is_wanted() -> None:
    with destination("memory://exports/models/2", overwrite=False) as folder:
        write(folder, "first")
    with destination("memory://exports/models/2", overwrite=True) as folder:
        write(folder, "second")
    with (
        pytest.raises(AlreadyExists, match="models/2"),
        destination("memory://exports/models/2", overwrite=False) as folder,
    ):
        write(folder, "third")
    assert content("memory://exports/models/2/saved_model.pb") == b"second"


def test_an_export_that_fails_leaves_nothing_in_the_store() -> None:
    location = Location.parse("memory://exports/models/3")
    with pytest.raises(FileExistsError), destination(str(location), overwrite=True) as folder:
        write_twice(folder)
    with pytest.raises(FileNotFoundError):
        connect(location, {}).info(location.path)
