"""Programs of the Hops library with the project where it used to be: on HDFS."""

from __future__ import annotations

import json
import time
import urllib.request
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from hopyard.testing.mini_hdfs import MiniHDFS

pytestmark = pytest.mark.hdfs


@pytest.fixture(autouse=True)
def on_hdfs(mini_hdfs: MiniHDFS, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of a new project on HDFS, which is the one that programs use."""
    name = f"p{uuid4().hex}"
    monkeypatch.setenv("HOPYARD_ROOT", mini_hdfs.url)
    monkeypatch.setenv("HOPYARD_PROJECT", name)
    return f"{mini_hdfs.url}/Projects/{name}/"


def wrapper() -> str:
    from hops import devices, hdfs, tensorboard

    hdfs.log(f"{devices.get_num_gpus()} GPUs")
    data = hdfs.load(hdfs.project_path() + "Resources/mnist/labels.csv")
    hdfs.log(f"labels: {data.decode()}")

    from tensorboard.summary import Writer

    writer = Writer(tensorboard.logdir())
    writer.add_scalar("loss", 0.25, step=1)
    writer.close()
    return hdfs.project_path()


@pytest.mark.spark
def test_a_run_reads_from_hdfs_and_is_visualized_from_there(
    on_hdfs: str, spark: SparkSession, tmp_path: Path
) -> None:
    from hops import hdfs, tensorboard, tflauncher

    (tmp_path / "labels.csv").write_text("7,2,1")
    hdfs.copy_to_project(str(tmp_path / "labels.csv"), "Resources/mnist")

    hdfs_path = tflauncher.launch(spark, wrapper)

    assert hdfs_path.startswith(f"{on_hdfs}Logs/TensorFlow/{spark.sparkContext.applicationId}/")
    assert b": labels: 7,2,1\n" in hdfs.load(f"{hdfs_path}/logfile")
    assert b": 0 GPUs\n" in hdfs.load(f"{hdfs_path}/logfile")
    with tensorboard.visualize(spark, hdfs_path) as server:
        deadline = time.monotonic() + 30
        shown: dict[str, dict[str, object]] = {}
        while "." not in shown:
            assert time.monotonic() < deadline, f"TensorBoard shows only {shown}"
            with urllib.request.urlopen(f"{server.url}data/plugin/scalars/tags", timeout=10) as answer:
                shown = json.load(answer)
        assert list(shown["."]) == ["loss"]


def test_files_are_handled_by_every_spelling_of_their_path(on_hdfs: str) -> None:
    from hops import hdfs

    assert hdfs.project_path() == on_hdfs
    hdfs.dump("one", "Resources/a.csv")
    plain = f"/Projects/{hdfs.project_name()}/Resources/a.csv"
    assert hdfs.load(plain) == hdfs.load(f"hopsfs://{plain}") == b"one"
    assert hdfs.glob("Resources/*.csv") == [f"{on_hdfs}Resources/a.csv"]
    hdfs.move("Resources/a.csv", "Resources/b.csv")
    with hdfs.open_file("Resources/b.csv", flags="a") as file:
        file.write(b" two")
    assert hdfs.stat("Resources/b.csv").st_size == 7
    hdfs.rmr("Resources")
    assert not hdfs.exists("Resources")
