"""Calls of every release of TensorFlowOnSpark are understood."""

from __future__ import annotations

from argparse import Namespace

import pytest

from hopyard.errors import BadArguments, InvalidDevices
from hopyard.worker.gpus.request import DeviceRequest
from tensorflowonspark.order import QUEUES, InputMode, Later, Order, devices
from tensorflowonspark.roles import Roles
from tensorflowonspark.surroundings import ProcessState

pytestmark = pytest.mark.unit

LIST = ["input", "output", "error"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((LIST, None, 600, QUEUES), Later(queues=tuple(LIST))),
        ((True, LIST, 600, QUEUES), Later(driver_ps_nodes=True, queues=tuple(LIST))),
        ((False, 300, LIST, QUEUES), Later(reservation_timeout=300, queues=tuple(LIST))),
        (
            (True, "chief", 300, LIST),
            Later(driver_ps_nodes=True, master_node="chief", reservation_timeout=300, queues=tuple(LIST)),
        ),
        ((1, None, 600, QUEUES), Later(driver_ps_nodes=True)),
        ((False, None, 600, QUEUES), Later()),
    ],
    ids=["1.1", "1.2.0", "1.2.1", "since 1.3", "a number for a truth value", "defaults"],
)
def test_arguments_that_changed_their_places_are_told_by_what_they_are(values, expected):
    assert Later.sorted_out(*values) == expected


def test_two_arguments_of_one_kind_are_refused():
    with pytest.raises(BadArguments, match="300 and 400 both look like reservation_timeout"):
        Later.sorted_out(False, 300, 400, QUEUES)


def test_argument_of_no_kind_is_refused():
    with pytest.raises(BadArguments, match="is none of its arguments"):
        Later.sorted_out(False, None, 600, {"input": 1})


@pytest.mark.parametrize("mode", [InputMode.TENSORFLOW, InputMode.SPARK])
def test_nodes_are_fed_if_spark_reads_the_data(mode):
    order = Order(roles=Roles(num_executors=1), input_mode=mode)
    assert order.is_fed == order.spec(None, ProcessState()).feed == (mode == InputMode.SPARK)


def test_unknown_input_mode_is_refused():
    with pytest.raises(BadArguments, match="input_mode=2"):
        Order(roles=Roles(num_executors=1), input_mode=2)


def test_nodes_use_as_many_gpus_as_the_programs_arguments_say():
    assert devices(Namespace(num_gpus=2)) == DeviceRequest(gpus=2, unscheduled=1)


@pytest.mark.parametrize("tf_args", [Namespace(), {"x": 1}, ["--num_gpus", "2"], None])
def test_nodes_use_what_spark_gives_or_one_gpu_where_the_arguments_say_nothing(tf_args):
    assert devices(tf_args) == DeviceRequest(unscheduled=1)


def test_gpus_that_are_no_number_are_refused():
    with pytest.raises(InvalidDevices):
        devices(Namespace(num_gpus="two"))


def test_cluster_listens_where_the_environment_says():
    around = ProcessState(server_host="10.0.0.1", server_ports=(8000, 8001), node_ports=(9000,))
    spec = Order(roles=Roles(num_executors=2), reservation_timeout=5).spec(None, around)
    assert (spec.driver_address, spec.driver_ports, spec.ports) == ("10.0.0.1", (8000, 8001), (9000,))
    assert spec.timeouts.start == 5


def test_tensorboard_is_started_if_asked_for():
    around = ProcessState(tensorboard_port=6006)
    order = Order(roles=Roles(num_executors=2), tensorboard=True, log_dir="/tmp/model")
    (board,) = order.spec(None, around).companions
    assert (board.log_dir, board.port) == ("/tmp/model", 6006)
    assert Order(roles=Roles(num_executors=2)).spec(None, around).companions == ()
