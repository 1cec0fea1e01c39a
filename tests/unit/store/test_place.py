from __future__ import annotations

import pytest

from hopyard.errors import InvalidName
from hopyard.store import Project
from hopyard.store.place import Place, locate

pytestmark = pytest.mark.unit

HDFS = Project("hdfs://namenode:8020/data", "demo")
LOCAL = Project("/srv/hopyard", "demo")


@pytest.mark.parametrize(
    "path",
    [
        "Logs/TensorFlow/app",
        "/Projects/demo/Logs/TensorFlow/app",
        "hdfs:///Projects/demo/Logs/TensorFlow/app",
        "hdfs://namenode:8020/data/Projects/demo/Logs/TensorFlow/app",
    ],
)
def test_every_spelling_of_a_path_in_the_project_is_understood(path: str) -> None:
    assert locate(path, HDFS) == Place(project=HDFS, relative="Logs/TensorFlow/app")


def test_a_path_from_the_root_may_name_a_neighbour_project() -> None:
    neighbour = Project("/srv/hopyard", "other")
    assert locate("/Projects/other/Logs", LOCAL) == Place(project=neighbour, relative="Logs")


def test_a_url_may_name_a_project_on_another_store() -> None:
    other = Project("s3://bucket/deep", "other")
    assert locate("s3://bucket/deep/Projects/other/Logs", LOCAL) == Place(project=other, relative="Logs")


def test_the_folder_of_a_whole_project_is_in_it() -> None:
    assert locate("/srv/hopyard/Projects/demo/", LOCAL) == Place(project=LOCAL, relative="")


def test_a_root_below_another_projects_folder_does_not_confuse() -> None:
    nested = Project("/srv/Projects/shared", "demo")
    assert locate("/srv/Projects/shared/Projects/demo/Logs", nested) == Place(project=nested, relative="Logs")


def test_a_folder_outside_of_every_project_is_in_none() -> None:
    assert locate("/var/log", LOCAL) is None


def test_a_relative_path_that_leaves_the_project_is_refused() -> None:
    with pytest.raises(InvalidName):
        locate("../other", LOCAL)
