"""What a training function does with its context; ``from tensorflowonspark import TFNode``."""

from __future__ import annotations

import getpass
import logging
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from hopyard.errors import BadArguments, NotOffered, TooFewGpus
from hopyard.store import Project
from hopyard.store.layout import PROJECTS
from tensorflowonspark.data_feed import DataFeed
from tensorflowonspark.exports import destination
from tensorflowonspark.framework import tensorflow

if TYPE_CHECKING:
    from tensorflowonspark.TFSparkNode import TFNodeContext

__all__ = [
    "DataFeed",
    "batch_results",
    "export_saved_model",
    "hdfs_path",
    "next_batch",
    "release_port",
    "start_cluster_server",
    "terminate",
]

LOG = logging.getLogger(__name__)

_IN_PROJECT = re.compile(rf"/{PROJECTS}/(?P<name>[^/]+)(?P<rest>(/.*)?)", re.DOTALL)
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")


def hdfs_path(ctx: TFNodeContext, path: str) -> str:
    """Returns a path with the scheme of its file system.

    A path with a scheme is returned as it is. ``/Projects/<name>/…`` is in the project of that name, beside the
    current one. Any other path from the root is in the default file system. A relative one is in the home folder
    of the user on HDFS, and in the driver's working folder on local disks.

    Args:
        ctx: The context of the node, of which ``defaultFS`` and ``working_dir`` are used.
        path: The path.
    """
    if _HAS_SCHEME.match(path):
        return path
    if in_project := _IN_PROJECT.fullmatch(path):
        project = Project.open(name=in_project["name"])
        scheme = "file://" if project.local_path() else ""
        return f"{scheme}{project.path.rstrip('/')}{in_project['rest']}"
    files = ctx.defaultFS if ctx.defaultFS.endswith("://") else ctx.defaultFS.removesuffix("/")
    if path.startswith("/"):
        return f"{files}{path}"
    if files.startswith(("hdfs://", "viewfs://")):
        user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        return f"{files}/user/{user}/{path}"
    if files.startswith("file://"):
        return f"{files}{os.path.abspath(ctx.working_dir)}/{path}"
    LOG.warning("nobody knows where a relative path starts in %s: %s is taken from the root", files, path)
    return f"{files}/{path}"


def start_cluster_server(ctx: TFNodeContext, num_gpus: int = 1, rdma: bool = False) -> tuple[Any, Any]:
    """Starts TensorFlow's server of this node and returns ``(cluster_spec, server)``.

    They are a ``tf.train.ClusterSpec`` and a ``tf.distribute.Server``: a parameter server calls
    ``server.join()``, a worker opens ``tf.compat.v1.Session(server.target)``. With TensorFlow 2 most programs
    need neither; ``tf.distribute.MultiWorkerMirroredStrategy()`` starts what it needs.

    Args:
        ctx: The context of the node.
        num_gpus: How many of the node's GPUs the server uses, if it has any; a parameter server uses none.
        rdma: Not offered.

    Raises:
        NotOffered: RDMA was asked for.
        TooFewGpus: The node has GPUs, but not as many.
    """
    if rdma:
        raise NotOffered("start_cluster_server(rdma=True)", "TensorFlow 2 speaks gRPC only; leave rdma out")
    tf = tensorflow("start_cluster_server()")
    gpus = 0 if ctx.job_name == "ps" else num_gpus
    seen = len(tf.config.list_physical_devices("GPU"))
    if 0 < seen < gpus:
        raise TooFewGpus(gpus, seen, "given to this node", "start the cluster with more GPUs for each node")
    cluster_spec = tf.train.ClusterSpec(ctx.cluster_spec)
    server = tf.distribute.Server(
        cluster_spec,
        job_name=ctx.job_name,
        task_index=ctx.task_index,
        config=tf.compat.v1.ConfigProto(device_count={"GPU": gpus}),
    )
    LOG.info("the server of %s:%d is %s", ctx.job_name, ctx.task_index, server.target)
    return cluster_spec, server


def export_saved_model(
    sess: Any, export_dir: str, tag_set: str, signatures: Mapping[str, Mapping[str, Any]]
) -> None:
    """Exports the graph of a ``tf.compat.v1.Session`` and its variables as a SavedModel.

    Args:
        sess: The session.
        export_dir: A local path or a URL where there is nothing yet.
        tag_set: Tags of the graph, with commas between them.
        signatures: By key: ``inputs`` and ``outputs``, each tensors by their aliases, and ``method_name``,
            which is the key if not given.

    Raises:
        BadArguments: There is no session.
    """
    tf = tensorflow("export_saved_model()")
    if not isinstance(sess, tf.compat.v1.Session | tf.compat.v1.InteractiveSession):
        instead = "for a model without one call compat.export_saved_model(model, export_dir, is_chief=True)"
        raise BadArguments("export_saved_model", f"a tf.compat.v1.Session is needed; {instead}")
    definitions = {key: _signature(tf, key, signature) for key, signature in signatures.items()}
    with destination(export_dir, overwrite=False) as folder:
        builder = tf.compat.v1.saved_model.Builder(folder)
        sess.graph._unsafe_unfinalize()  # noqa: SLF001 (saving adds nodes, and training loops finalize graphs)
        builder.add_meta_graph_and_variables(
            sess, tag_set.split(","), signature_def_map=definitions, clear_devices=True
        )
        sess.graph.finalize()
        builder.save()


def release_port(ctx: TFNodeContext) -> None:
    """Frees the port that is held for this node's server; the server also starts while it is held."""
    if ctx.tmp_socket is None:
        LOG.warning("release_port() has nothing to do: no port is held")
        return
    LOG.info("the port of %s is free", ctx.tmp_socket.getsockname())
    ctx.tmp_socket.close()
    ctx.tmp_socket = None


def next_batch(mgr: object, batch_size: int, qname: str = "input") -> NoReturn:
    """Raises: a feed has this method."""
    raise _of_a_feed("next_batch(batch_size)")


def batch_results(mgr: object, results: object, qname: str = "output") -> NoReturn:
    """Raises: a feed has this method."""
    raise _of_a_feed("batch_results(results)")


def terminate(mgr: object, qname: str = "input") -> NoReturn:
    """Raises: a feed has this method."""
    raise _of_a_feed("terminate()")


def _signature(tf: Any, key: str, signature: Mapping[str, Any]) -> Any:
    v1 = tf.compat.v1.saved_model
    tensors = {
        side: {alias: v1.build_tensor_info(tensor) for alias, tensor in signature[side].items()}
        for side in ("inputs", "outputs")
    }
    return v1.build_signature_def(**tensors, method_name=signature.get("method_name", key))


def _of_a_feed(call: str) -> NotOffered:
    name = call.partition("(")[0]
    return NotOffered(f"TFNode.{name}()", f"it is a method of a feed: ctx.get_data_feed().{call}")
