"""A cluster that has not been started, and what it does not offer."""

from __future__ import annotations

import inspect
import pickle

import pytest

from hopyard.errors import BadArguments, InvalidPlan, NotFed, NotOffered, NotStarted
from tensorflowonspark import TFCluster
from tensorflowonspark.feed_data import epochs
from tensorflowonspark.order import Order
from tensorflowonspark.roles import Roles
from tensorflowonspark.surroundings import ProcessState

pytestmark = pytest.mark.unit


@pytest.fixture
def cluster() -> TFCluster.TFCluster:
    order = Order(roles=Roles(num_executors=3, num_ps=1, master_node="chief"))
    return TFCluster.TFCluster(None, order, ProcessState(default_fs="hdfs://namenode", working_dir="/home"))


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


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (
            Roles(num_executors=1, num_ps=1),
            "num_executors=1, num_ps=1, eval_node=False is not valid: "
            "no node is left to train; raise num_executors, which counts all of them.",
        ),
        (
            Roles(num_executors=0),
            "num_executors=0 is not valid: give a whole number of at least 1.",
        ),
        (
            Roles(num_executors=2, master_node="ps"),
            "master_node='ps' is not valid: call it 'chief' or 'master'.",
        ),
    ],
    ids=["nobody trains", "no node", "name of another role"],
)
def test_numbers_that_do_not_fit_are_refused_under_the_names_of_the_call(roles, message):
    with pytest.raises(InvalidPlan) as raised:
        TFCluster.TFCluster(None, Order(roles=roles), ProcessState()).start(print, None)
    assert str(raised.value) == message
    assert str(pickle.loads(pickle.dumps(raised.value))) == message


@pytest.fixture
def fed_cluster() -> TFCluster.TFCluster:
    order = Order(
        roles=Roles(num_executors=2), input_mode=TFCluster.InputMode.SPARK, queues=("input", "more", "output")
    )
    return TFCluster.TFCluster(None, order, ProcessState())


@pytest.mark.parametrize("call", ["train", "inference"])
def test_cluster_that_reads_its_own_data_is_not_fed(cluster, call):
    with pytest.raises(NotFed, match=rf"{call}\(\).*InputMode.SPARK"):
        getattr(cluster, call)([1, 2, 3])


@pytest.mark.parametrize("call", ["train", "inference"])
def test_queue_that_is_not_there_is_refused(fed_cluster, call):
    with pytest.raises(BadArguments, match="'inptu' is none of the cluster's: input, more, output"):
        getattr(fed_cluster, call)([1, 2, 3], qname="inptu")


def test_cluster_is_fed_by_one_queue(fed_cluster):
    with pytest.raises(NotStarted):
        fed_cluster.train([1, 2, 3], 1, qname="more")
    with pytest.raises(NotOffered, match="fed by 'more'"):
        fed_cluster.train([1, 2, 3], 1)


def test_negative_number_of_epochs_is_refused():
    with pytest.raises(BadArguments, match="num_epochs=-1 is negative"):
        epochs(-1)


def test_no_number_of_epochs_means_ten_and_a_warning_says_so(caplog):
    assert epochs(0) == 10
    assert "num_epochs=0 means 10 epochs" in caplog.text


def test_cluster_that_was_not_started_cannot_be_shut_down(cluster):
    with pytest.raises(NotStarted):
        cluster.shutdown()


def test_cluster_without_tensorboard_has_no_address_of_one(cluster):
    assert cluster.tensorboard_url() is None
