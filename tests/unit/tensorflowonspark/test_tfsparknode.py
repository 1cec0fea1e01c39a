from __future__ import annotations

import logging
import socket

import pytest

from hopyard.feed.node.inbox import Inbox
from hopyard.run.data_feed import DataFeed
from tensorflowonspark import TFNode, TFSparkNode
from tensorflowonspark.node_manager import NodeManager

pytestmark = pytest.mark.unit

CLUSTER = {"ps": ["h:1"], "chief": ["h:2"], "worker": ["h:3", "h:4"], "evaluator": ["h:5"]}


def test_a_context_takes_its_arguments_in_the_old_order() -> None:
    with socket.socket() as held:
        ctx = TFSparkNode.TFNodeContext(3, "worker", 1, CLUSTER, "hdfs://nn", "/work", "manager", held)
        assert vars(ctx) == {
            "worker_num": 3,
            "executor_id": 3,
            "job_name": "worker",
            "task_index": 1,
            "cluster_spec": CLUSTER,
            "num_workers": 3,
            "defaultFS": "hdfs://nn",
            "working_dir": "/work",
            "mgr": "manager",
            "tmp_socket": held,
        }


def test_a_context_without_arguments_is_that_of_a_program_alone() -> None:
    assert vars(TFSparkNode.TFNodeContext()) == {
        "worker_num": 0,
        "executor_id": 0,
        "job_name": "",
        "task_index": 0,
        "cluster_spec": {},
        "num_workers": 0,
        "defaultFS": "file://",
        "working_dir": ".",
        "mgr": None,
        "tmp_socket": None,
    }


def test_a_context_completes_paths() -> None:
    ctx = TFSparkNode.TFNodeContext(defaultFS="hdfs://nn:8020")
    assert ctx.absolute_path("/data") == TFNode.hdfs_path(ctx, "/data") == "hdfs://nn:8020/data"


def test_a_released_port_can_be_bound_again() -> None:
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    port = held.getsockname()[1]
    ctx = TFSparkNode.TFNodeContext(tmp_socket=held)
    ctx.release_port()
    assert ctx.tmp_socket is None
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_releasing_a_port_that_is_not_held_is_told_and_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        TFSparkNode.TFNodeContext().release_port()
    assert "no port is held" in caplog.text


def test_a_context_has_the_feed_of_its_manager() -> None:
    manager = NodeManager(("input", "output", "error"), lambda: DataFeed(Inbox()))
    feed = TFSparkNode.TFNodeContext(mgr=manager).get_data_feed(train_mode=False, input_mapping={"a": "x"})
    assert isinstance(feed, TFNode.DataFeed)
    assert (feed.mgr, feed.train_mode, feed.input_tensors) == (manager, False, ["x"])
