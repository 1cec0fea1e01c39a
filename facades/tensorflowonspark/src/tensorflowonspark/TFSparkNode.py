"""What a training function is told of its node; ``from tensorflowonspark import TFSparkNode``."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from tensorflowonspark import TFNode

_TRAIN = ("master", "chief", "worker")


class TFNodeContext:
    """The ``ctx`` of a training function ``map_fun(args, ctx)``.

    Attributes:
        executor_id: Number of the node among all.
        worker_num: The same, under its first name.
        job_name: Role of the node: ``chief``, ``master``, ``worker``, ``ps`` or ``evaluator``.
        task_index: Number of the node among those of its role.
        cluster_spec: The addresses of all nodes by their roles, as ``tf.train.ClusterSpec`` takes them.
        num_workers: How many nodes train: workers and their chief.
        defaultFS: URL of the default file system, without a slash at its end.
        working_dir: The driver's working folder.
        mgr: Values of the node, and the way to its feed: a `NodeManager`.
        tmp_socket: Holds the port of the node; None if it is not held.
    """

    def __init__(
        self,
        executor_id: int = 0,
        job_name: str = "",
        task_index: int = 0,
        cluster_spec: Mapping[str, list[str]] | None = None,
        defaultFS: str = "file://",
        working_dir: str = ".",
        mgr: Any = None,
        tmp_socket: socket.socket | None = None,
    ) -> None:
        self.worker_num = executor_id
        self.executor_id = executor_id
        self.job_name = job_name
        self.task_index = task_index
        self.cluster_spec = {} if cluster_spec is None else cluster_spec
        self.num_workers = sum(len(self.cluster_spec.get(role, ())) for role in _TRAIN)
        self.defaultFS = defaultFS
        self.working_dir = working_dir
        self.mgr = mgr
        self.tmp_socket = tmp_socket

    def absolute_path(self, path: str) -> str:
        """See `TFNode.hdfs_path`."""
        return TFNode.hdfs_path(self, path)

    def start_cluster_server(self, num_gpus: int = 1, rdma: bool = False) -> tuple[Any, Any]:
        """See `TFNode.start_cluster_server`."""
        return TFNode.start_cluster_server(self, num_gpus, rdma)

    def export_saved_model(
        self, sess: Any, export_dir: str, tag_set: str, signatures: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """See `TFNode.export_saved_model`."""
        TFNode.export_saved_model(sess, export_dir, tag_set, signatures)

    def get_data_feed(
        self,
        train_mode: bool = True,
        qname_in: str = "input",
        qname_out: str = "output",
        input_mapping: Mapping[str, str] | None = None,
    ) -> TFNode.DataFeed:
        """See `TFNode.DataFeed`."""
        return TFNode.DataFeed(self.mgr, train_mode, qname_in, qname_out, input_mapping)

    def release_port(self) -> None:
        """See `TFNode.release_port`."""
        TFNode.release_port(self)
