from __future__ import annotations

import getpass
import os

import pytest

from hopyard.errors import NotOffered
from tensorflowonspark import TFNode
from tensorflowonspark.TFSparkNode import TFNodeContext

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def no_hadoop_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_USER_NAME", raising=False)


@pytest.mark.parametrize("files", ["file://", "hdfs://nn:8020", "viewfs://cluster", "s3a://bucket"])
@pytest.mark.parametrize(
    "path",
    ["hdfs://other/a", "viewfs://c/a", "file:///a", "s3a://b/a", "wasb://c@d/a", "gs://b/a", "webhdfs://h/a"],
)
def test_a_path_with_a_scheme_stays_as_it_is(files: str, path: str) -> None:
    assert TFNode.hdfs_path(TFNodeContext(defaultFS=files, working_dir="/work"), path) == path


@pytest.mark.parametrize(
    ("files", "completed"),
    [
        ("file://", "file:///a/b"),
        ("file:///", "file:///a/b"),
        ("hdfs://", "hdfs:///a/b"),
        ("hdfs://nn:8020", "hdfs://nn:8020/a/b"),
        ("hdfs://nn:8020/", "hdfs://nn:8020/a/b"),
        ("viewfs://cluster", "viewfs://cluster/a/b"),
        ("s3a://bucket", "s3a://bucket/a/b"),
    ],
)
def test_a_path_from_the_root_is_in_the_default_file_system(files: str, completed: str) -> None:
    assert TFNode.hdfs_path(TFNodeContext(defaultFS=files), "/a/b") == completed


@pytest.mark.parametrize("files", ["hdfs://nn:8020", "hdfs://", "viewfs://cluster"])
def test_a_relative_path_is_in_the_users_home_on_hadoop(files: str) -> None:
    assert TFNode.hdfs_path(TFNodeContext(defaultFS=files), "a/b") == f"{files}/user/{getpass.getuser()}/a/b"


def test_the_user_may_be_another_one_on_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "carol")
    assert TFNode.hdfs_path(TFNodeContext(defaultFS="hdfs://nn"), "a") == "hdfs://nn/user/carol/a"


def test_a_relative_path_is_in_the_working_folder_on_local_disks() -> None:
    assert TFNode.hdfs_path(TFNodeContext(working_dir="/work/dir"), "a/b") == "file:///work/dir/a/b"
    assert TFNode.hdfs_path(TFNodeContext(), "a/b") == f"file://{os.getcwd()}/a/b"


def test_a_relative_path_in_another_file_system_is_taken_from_its_root_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert TFNode.hdfs_path(TFNodeContext(defaultFS="s3a://bucket"), "a/b") == "s3a://bucket/a/b"
    assert "s3a://bucket" in caplog.text


@pytest.mark.parametrize(
    ("root", "folder"),
    [
        ("/data", "file:///data/Projects/demo"),
        ("hdfs://nn:8020/yard", "hdfs://nn:8020/yard/Projects/demo"),
        ("s3://bucket", "s3://bucket/Projects/demo"),
    ],
)
@pytest.mark.parametrize("rest", ["", "/", "/Resources/mnist/part-*", "/Logs/at 10:00/"])
def test_a_path_of_a_project_is_where_projects_are(
    monkeypatch: pytest.MonkeyPatch, root: str, folder: str, rest: str
) -> None:
    monkeypatch.setenv("HOPYARD_ROOT", root)
    monkeypatch.setenv("HOPYARD_PROJECT", "own")
    ctx = TFNodeContext(defaultFS="hdfs://other:8020")
    assert TFNode.hdfs_path(ctx, f"/Projects/demo{rest}") == f"{folder}{rest}"
    assert TFNode.hdfs_path(ctx, "/Projects") == "hdfs://other:8020/Projects"


def test_functions_that_moved_to_the_feed_say_so() -> None:
    with pytest.raises(NotOffered, match=r"ctx\.get_data_feed\(\)\.next_batch\(batch_size\)"):
        TFNode.next_batch(None, 100)
    with pytest.raises(NotOffered, match=r"ctx\.get_data_feed\(\)\.batch_results\(results\)"):
        TFNode.batch_results(None, [1, 2])
    with pytest.raises(NotOffered, match=r"ctx\.get_data_feed\(\)\.terminate\(\)"):
        TFNode.terminate(None)


def test_rdma_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="leave rdma out"):
        TFNode.start_cluster_server(TFNodeContext(), rdma=True)
