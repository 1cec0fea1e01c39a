"""Programs of the Hops library with the project where it used to be: on HDFS."""

from __future__ import annotations

import json
import urllib.request
from itertools import product
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from hopyard.search.study.study import Study
from hopyard.testing.watching import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from hopyard.tensorboard import TensorBoardServer
    from hopyard.testing.mini_hdfs import MiniHDFS

pytestmark = pytest.mark.hdfs


@pytest.fixture(autouse=True)
def on_hdfs(mini_hdfs: MiniHDFS, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of a new project on HDFS, which is the one that programs use."""
    name = f"p{uuid4().hex}"
    monkeypatch.setenv("HOPYARD_ROOT", mini_hdfs.url)
    monkeypatch.setenv("HOPYARD_PROJECT", name)
    return f"{mini_hdfs.url}/Projects/{name}/"


def scalars(server: TensorBoardServer) -> dict[str, list[str]]:
    """Returns the names of the scalars that TensorBoard's pages would get, by run."""
    with urllib.request.urlopen(f"{server.url}data/plugin/scalars/tags", timeout=10) as answer:
        return {run: list(tags) for run, tags in json.load(answer).items()}


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
        wait_until(lambda: scalars(server) == {".": ["loss"]}, "TensorBoard shows the run", 30)


def training(learning_rate: float, dropout: float) -> float:
    from tensorboard.summary import Writer

    from hops import hdfs, tensorboard

    hdfs.log(f"dropout={dropout}")
    writer = Writer(tensorboard.logdir())
    writer.add_scalar("loss", learning_rate, step=1)
    writer.close()
    return dropout - learning_rate


@pytest.mark.spark
def test_the_six_jobs_of_a_grid_are_on_hdfs_and_visualized_from_there(
    on_hdfs: str, spark: SparkSession
) -> None:
    from hops import experiment, hdfs, tensorboard

    args_dict = {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]}

    hdfs_path = experiment.grid_search(spark, training, args_dict, direction="max")

    assert hdfs_path.startswith(f"{on_hdfs}Logs/TensorFlow/{spark.sparkContext.applicationId}/grid_search/")
    rows = list(product(args_dict["learning_rate"], args_dict["dropout"]))
    trials = Study.load("last").trials
    assert [tuple(trial.params.values()) for trial in trials] == rows
    folders = [f"learning_rate={rate}.dropout={dropout}" for rate, dropout in rows]
    assert [trial.folder for trial in trials] == folders
    for folder, (rate, dropout) in zip(folders, rows, strict=True):
        assert f": dropout={dropout}\n".encode() in hdfs.load(f"{hdfs_path}/{folder}/logfile")
        assert float(hdfs.load(f"{hdfs_path}/{folder}/metric")) == dropout - rate
    with tensorboard.visualize(spark, hdfs_path) as server:
        wait_until(
            lambda: {run for run, tags in scalars(server).items() if "loss" in tags} == set(folders),
            "TensorBoard shows the six jobs",
            60,
        )


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
