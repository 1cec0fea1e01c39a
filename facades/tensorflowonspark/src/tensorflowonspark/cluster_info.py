"""A node as ``TFCluster.cluster_info`` lists it."""

from __future__ import annotations

from typing import Any

from hopyard.protocol.node_status import NodeStatus
from tensorflowonspark.roles import Roles


def cluster_info(node: NodeStatus, roles: Roles) -> dict[str, Any]:
    """Returns a node as a dictionary; ``addr`` and ``authkey`` are None, as nobody needs them."""
    task = roles.plan().nodes[node.rank]
    host, _, port = node.address.rpartition(":")
    url = node.notes.get("tensorboard", "")
    return {
        "executor_id": roles.executor_id(node.role, task.task_index),
        "host": host,
        "job_name": roles.job_name(node.role),
        "task_index": task.task_index,
        "port": int(port or 0),
        "tb_pid": 0,
        "tb_port": int(url.rstrip("/").rpartition(":")[2] or 0),
        "addr": None,
        "authkey": None,
    }
