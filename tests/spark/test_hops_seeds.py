"""The programs that the documents of the Hops library print, run as printed."""

from __future__ import annotations

import json
import time
import urllib.request
from typing import TYPE_CHECKING

import pytest

from hopyard.errors import NodeFailed
from hopyard.store import Project

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from hopyard.tensorboard import TensorBoardServer

pytestmark = pytest.mark.spark


def wrapper() -> str:
    from hops import hdfs

    mnist = hdfs.project_path() + "Resources/mnist"
    hdfs.log("Some string")

    from hops import tensorboard

    logdir = tensorboard.logdir()

    from hops import devices

    num_gpus = devices.get_num_gpus()
    hdfs.log(f"{num_gpus} GPUs, data in {mnist}")

    from tensorboard.summary import Writer

    writer = Writer(logdir)
    writer.add_scalar("loss", 0.25, step=1)
    writer.close()
    return mnist


def training(learning_rate: float, dropout: float) -> None:
    from hops import hdfs

    hdfs.log(f"learning_rate={learning_rate} dropout={dropout}")


def failing() -> None:
    raise ValueError("no such data")


def scalar_tags(server: TensorBoardServer, run: str) -> list[str]:
    """Returns the tags of a run as TensorBoard's pages would get them, once it has loaded them."""
    deadline = time.monotonic() + 30
    while True:
        with urllib.request.urlopen(f"{server.url}data/plugin/scalars/tags", timeout=10) as answer:
            tags = json.load(answer)
        if run in tags:
            return list(tags[run])
        assert time.monotonic() < deadline, f"TensorBoard shows only {tags}"
        time.sleep(0.1)


def logfile(folder: str) -> str:
    project = Project.open()
    return project.read(f"{project.relative(folder)}/logfile").decode()


def test_a_function_is_launched_and_its_run_visualized(
    spark: SparkSession, hopyard_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hops import hdfs, tensorboard, tflauncher

    root_tensorboard_logdir = tflauncher.launch(spark, wrapper)

    assert root_tensorboard_logdir.startswith(hdfs.project_path() + "Logs/TensorFlow/")
    log = logfile(root_tensorboard_logdir)
    assert ": Some string\n" in log
    assert f"0 GPUs, data in {hopyard_root}/Projects/{hdfs.project_name()}/Resources/mnist\n" in log
    with tensorboard.visualize(spark, root_tensorboard_logdir) as server:
        assert scalar_tags(server, ".") == ["loss"]
        assert server.url in capsys.readouterr().out


def test_the_session_need_not_be_given_and_lists_of_one_value_are_arguments(spark: SparkSession) -> None:
    from hops import experiment

    folder = experiment.launch(training, {"learning_rate": [0.001], "dropout": [0.45]}, name="one")
    assert spark.sparkContext.applicationId in folder
    assert "learning_rate=0.001 dropout=0.45\n" in logfile(folder)


def test_a_failing_function_raises_on_the_driver(spark: SparkSession) -> None:
    from hops import tflauncher

    with pytest.raises(NodeFailed, match="no such data"):
        tflauncher.launch(spark, failing)


def test_the_session_tells_executors_and_parameter_servers(spark: SparkSession) -> None:
    from hops import util

    num_param_servers = util.num_param_servers(spark)
    num_executors = util.num_executors(spark)
    assert (num_executors, num_param_servers) == (2, 0)
    assert util.num_executors(spark.sparkContext) == util.num_executors() == 2
