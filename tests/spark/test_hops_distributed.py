"""Functions of the Hops library that train on all executors."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import NodeContext
from hopyard.errors import InvalidSessionSetting
from hopyard.store import Project
from hopyard.testing.watching import wait_until
from hopyard.tracking import RunReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def note() -> None:
    """Leaves what the node knows in its log folder; one that only serves does so for ever."""
    from hops import tensorboard

    config = json.loads(os.environ.get("TF_CONFIG", "null"))
    Path(tensorboard.logdir(), "config.json").write_text(json.dumps(config))
    ctx = NodeContext.current()
    ctx.project.put(f"{ctx.run_id}/{ctx.rank}", b"")
    if config and config["task"]["type"] in ("ps", "evaluator"):
        threading.Event().wait()
    # those that serve are ended as soon as the others are done, so these wait until all have left their notes
    wait_until(lambda: len(ctx.project.list(ctx.run_id)) == ctx.size, "all nodes have left notes", 60)


def note_arguments(args: dict[str, int], ctx: Any) -> None:
    from hops import tensorboard
    from hops.tensorflowonspark import TFNode

    known = {"x": args["x"], "job": ctx.job_name, "path": TFNode.hdfs_path(ctx, "/data")}
    Path(tensorboard.logdir(), "config.json").write_text(json.dumps(known))


def notes(folder: str) -> list[Any]:
    """Returns what the nodes of a run left, in rank order."""
    files = [Path(folder, "config.json"), *sorted(Path(folder).glob("node.*/config.json"))]
    return [json.loads(file.read_text()) for file in files]


def test_all_executors_train_together(spark: SparkSession) -> None:
    from hops import experiment

    folder = experiment.collective_all_reduce(note, name="together", description="two of them")
    assert folder.endswith("/collective_all_reduce/run.1")
    configs = notes(folder)
    assert [config["task"]["type"] for config in configs] == ["chief", "worker"]
    assert {len(config["cluster"]) for config in configs} == {2}


def test_parameter_servers_of_the_session_are_used(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hops import experiment

    monkeypatch.setenv("NUM_TF_PS", "1")
    configs = notes(experiment.parameter_server(spark, note))
    assert [config["task"]["type"] for config in configs] == ["chief", "ps"]


def test_session_without_parameter_servers_is_told(spark: SparkSession) -> None:
    from hops import experiment

    with pytest.raises(InvalidSessionSetting, match=r"spark\.tensorflow\.num\.ps is 0"):
        experiment.parameter_server(note)


@pytest.mark.parametrize("name", ["collective_all_reduce", "mirrored"])
def test_parameter_servers_are_refused_where_nobody_would_use_them(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from hops import experiment

    monkeypatch.setenv("NUM_TF_PS", "1")
    with pytest.raises(InvalidSessionSetting, match=r"parameter_server\(\)"):
        getattr(experiment, name)(note)


def test_mirrored_training_is_one_node_that_knows_no_others(spark: SparkSession) -> None:
    from hops import experiment

    folder = experiment.mirrored(spark, note, "mine")
    assert folder.endswith("/mirrored/run.1")
    assert notes(folder) == [None]


def test_a_cluster_takes_the_arguments_of_the_hops_library(spark: SparkSession) -> None:
    from hops import util
    from hops.tensorflowonspark import TFCluster

    cluster = TFCluster.run(
        spark.sparkContext,
        note_arguments,
        {"x": 1},
        util.num_executors(spark),
        util.num_param_servers(spark),
        True,
        TFCluster.InputMode.TENSORFLOW,
        None,
        False,
        "chief",
        600,
        "mine",
        False,
        None,
        "as before",
    )
    cluster.shutdown()
    expected = {"x": 1, "path": "file:///data"}
    assert notes(cluster.logdir) == [{**expected, "job": "chief"}, {**expected, "job": "worker"}]
    record = RunReader(Project.open(), cluster.meta["id"]).record()
    assert (record.name, record.description) == ("mine", "as before")
