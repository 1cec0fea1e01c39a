"""Notebooks of the Hops library, cell by cell, on executors: what they save is kept, what they name is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hopyard.store import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def train_and_save() -> dict[str, object]:
    """Reads data of the project, saves a model as programs of PyTorch did, and leaves a file where it stands."""
    from hops import hdfs, logger, pandas_helper, tensorboard

    local = hdfs.copy_to_local("Resources/points.csv", tensorboard.logdir())
    assert hdfs.copy_to_local("Resources/points.csv", tensorboard.logdir()) == local
    rows = pandas_helper.read_csv("Resources/points.csv")
    logger.log(f"{len(rows)} rows")
    model = tensorboard.logdir() + "mnist_cnn.pt"
    Path(model).write_bytes(b"weights")
    Path("scratch.txt").write_text("forgotten")
    Path("plot.png").write_bytes(b"pixels")
    return {"accuracy": 0.75, "model": model, "plot": "plot.png"}


def training(learning_rate: float, dropout: float) -> dict[str, float]:
    return {"accuracy": dropout - learning_rate}


@pytest.fixture(autouse=True)
def resources() -> None:
    from hops import hdfs

    hdfs.dump("x,y\n1,2\n3,4\n", "Resources/points.csv")
    hdfs.dump("print('version 1')", "Resources/train.py")


def test_the_cells_of_a_notebook_with_a_launch(spark: SparkSession) -> None:
    from hops import experiment, hdfs, util

    assert util.num_executors(spark) == 2
    folder, returned = experiment.launch(
        train_and_save,
        name="mnist",
        local_logdir=True,
        versioned_resources=[hdfs.project_path() + "Resources/train.py"],
        metric_key="accuracy",
    )
    assert returned["accuracy"] == 0.75
    assert hdfs.load(returned["model"]) == b"weights"
    assert hdfs.load(returned["plot"]) == b"pixels"
    assert hdfs.load(f"{folder}/train.py") == b"print('version 1')"
    assert f"{folder}/mnist_cnn.pt" in hdfs.ls(folder)
    log = hdfs.load(returned["log"]).decode()
    assert "2 rows\n" in log
    assert "left in the working folder" in log
    assert "scratch.txt" in log


def test_the_cells_of_a_notebook_with_a_grid_search(spark: SparkSession) -> None:
    from hops import experiment, hdfs

    resources = ["Resources/train.py", "/Projects/" + hdfs.project_name() + "/Resources/points.csv"]
    folder = experiment.grid_search(
        spark,
        training,
        {"learning_rate": [0.1, 0.2], "dropout": [0.5]},
        direction="max",
        name="grid",
        versioned_resources=resources,
    )
    assert {"train.py", "points.csv"} <= {path.rpartition("/")[2] for path in hdfs.ls(folder)}


def test_a_result_names_a_log_that_is_there_also_if_nothing_was_printed(spark: SparkSession) -> None:
    from hops import experiment, hdfs
    from hops.experiment import Direction

    best, params, returned = experiment.grid_search(
        training,
        {"learning_rate": [0.1], "dropout": [0.25, 0.5]},
        direction=Direction.MAX,
        optimization_key="accuracy",
    )
    assert params == {"learning_rate": 0.1, "dropout": 0.5}
    assert returned == {"accuracy": 0.4, "log": f"{best}/logfile"}
    assert hdfs.load(returned["log"]) == b""
    assert Project.open().relative(best).endswith("learning_rate=0.1.dropout=0.5")
