"""Facts of the machine and of the executor; ``from tensorflowonspark import util``."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from hopyard.errors import NoExecutorId
from hopyard.protocol import node_info
from hopyard.wire.address import routable_address
from tensorflowonspark import gpu_info

LOG = logging.getLogger(__name__)

_EXECUTOR_ID = Path("executor_id")
_CLASSPATH_DONE = "TFOS_CLASSPATH_UPDATED"
_HADOOP_SECONDS = 60


def single_node_env(num_gpus: int = 1, worker_index: int = -1, nodes: Sequence[str] = ()) -> None:
    """Sets the environment of this process for TensorFlow on its own: the GPUs it sees, Hadoop's classes.

    A node of a cluster keeps to the GPUs it was given. Without a GPU or with `num_gpus` 0, TensorFlow sees
    none.

    Args:
        num_gpus: How many GPUs this process uses.
        worker_index: Number of this process among `nodes`, or on this machine.
        nodes: The addresses (``host:port``) of all processes, if known; those on the host of this one
            share its GPUs.

    Raises:
        TooFewGpus: The machine has GPUs, but not as many that are free.
    """
    _expand_classpath()
    gpus = _visible_gpus(num_gpus, worker_index, nodes)
    LOG.info("GPUs that are used: %s", gpus or "none")
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus


def get_ip_address() -> str:
    """Returns the address of this machine that others reach it by."""
    return routable_address()


def find_in_path(path: str, file: str) -> str | Literal[False]:
    """Returns the first file of that name in the folders of a path like ``PATH``; False if there is none."""
    candidates = (os.path.join(folder, file) for folder in path.split(os.pathsep))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), False)


def write_executor_id(num: int) -> None:
    """Keeps the number of this executor in its working folder."""
    _EXECUTOR_ID.write_text(str(num))


def read_executor_id() -> int:
    """Returns the number that `write_executor_id` has kept in this executor's working folder.

    Raises:
        NoExecutorId: It has kept none here.
    """
    if not _EXECUTOR_ID.is_file():
        raise NoExecutorId(str(Path.cwd()))
    return int(_EXECUTOR_ID.read_text())


def _visible_gpus(num_gpus: int, worker_index: int, nodes: Sequence[str]) -> str:
    if node_info.VARIABLE in os.environ:
        given = [gpu for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu]
        return ",".join(given[:num_gpus])
    if num_gpus < 1 or not gpu_info.is_gpu_available():
        return ""
    known = worker_index >= 0 and bool(nodes)
    index = _index_on_host(nodes, worker_index) if known else worker_index
    chosen = gpu_info.get_gpus(num_gpus, index, format=gpu_info.AS_LIST)
    return ",".join(chosen)


def _index_on_host(nodes: Sequence[str], worker_index: int) -> int:
    hosts = [address.rpartition(":")[0] for address in nodes]
    return hosts[:worker_index].count(hosts[worker_index])


def _expand_classpath() -> None:
    """Adds Hadoop's classes, one by one: a JVM that TensorFlow starts expands no wildcards."""
    if "HADOOP_PREFIX" not in os.environ or _CLASSPATH_DONE in os.environ:
        return
    hadoop = os.path.join(os.environ["HADOOP_PREFIX"], "bin", "hadoop")
    listed = subprocess.run(
        [hadoop, "classpath", "--glob"], capture_output=True, text=True, timeout=_HADOOP_SECONDS, check=True
    )
    parts = [os.environ.get("CLASSPATH", ""), listed.stdout.strip()]
    os.environ["CLASSPATH"] = os.pathsep.join(part for part in parts if part)
    os.environ[_CLASSPATH_DONE] = "1"
