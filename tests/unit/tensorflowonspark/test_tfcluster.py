"""A cluster that has not been started, and what it does not offer."""

from __future__ import annotations

import inspect

import pytest

from hopyard.errors import NotOffered, NotStarted
from tensorflowonspark import TFCluster
from tensorflowonspark.order import Order
from tensorflowonspark.roles import Roles
from tensorflowonspark.surroundings import Surroundings

pytestmark = pytest.mark.unit


@pytest.fixture
def cluster() -> TFCluster.TFCluster:
    order = Order(roles=Roles(num_executors=3, num_ps=1, master_node="chief"))
    return TFCluster.TFCluster(None, order, Surroundings(default_fs="hdfs://namenode", working_dir="/home"))


def test_run_takes_the_arguments_of_the_last_release_in_their_order():
    assert list(inspect.signature(TFCluster.run).parameters) == [
        "sc",
        "map_fun",
        "tf_args",
        "num_executors",
        "num_ps",
        "tensorboard",
        "input_mode",
        "log_dir",
        "driver_ps_nodes",
        "master_node",
        "reservation_timeout",
        "queues",
        "eval_node",
        "release_port",
    ]


def test_input_modes_have_their_old_numbers():
    assert (TFCluster.InputMode.TENSORFLOW, TFCluster.InputMode.SPARK) == (0, 1)


def test_cluster_knows_its_plan_before_it_is_started(cluster):
    assert cluster.cluster_info == []
    assert cluster.meta == cluster.cluster_meta
    assert cluster.meta["cluster_template"] == {"ps": [0], "chief": [1], "worker": [2]}
    assert (cluster.meta["default_fs"], cluster.meta["working_dir"]) == ("hdfs://namenode", "/home")


@pytest.mark.parametrize("call", ["train", "inference"])
def test_feed_is_not_offered_yet(cluster, call):
    with pytest.raises(NotOffered, match=f"{call}.*InputMode.TENSORFLOW"):
        getattr(cluster, call)([1, 2, 3])


def test_streaming_is_not_offered_yet(cluster):
    with pytest.raises(NotOffered, match="ssc"):
        cluster.shutdown(ssc=object())


def test_cluster_that_was_not_started_cannot_be_shut_down(cluster):
    with pytest.raises(NotStarted):
        cluster.shutdown()


def test_cluster_without_tensorboard_has_no_address_of_one(cluster):
    assert cluster.tensorboard_url() is None
